// Makes two logical calls to the stub through a JavaScript client library, as that
// library does when nobody has configured it, or as its documentation shows.
// usage: STUB=http://127.0.0.1:PORT node clients.mjs LIBRARY
import { readFileSync } from 'node:fs';

const base = process.env.STUB;

// fail makes an error of a refusal, for libraries that retry whatever throws.
async function fail(response) {
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`status ${response.status}`);
}

const libraries = {
  'axios-retry': ['axios-retry', async () => {
    const axios = (await import('axios')).default.create();
    (await import('axios-retry')).default(axios);
    return (call) => axios.get(`${base}/${call}`);
  }],
  'axios-retry-exponential': ['axios-retry', async () => {
    const axios = (await import('axios')).default.create();
    const retry = await import('axios-retry');
    retry.default(axios, { retries: 4, retryDelay: retry.exponentialDelay });
    return (call) => axios.get(`${base}/${call}`);
  }],
  'retry-axios': ['retry-axios', async () => {
    const axios = (await import('axios')).default.create();
    (await import('retry-axios')).attach(axios);
    return (call) => axios.get(`${base}/${call}`);
  }],
  got: ['got', async () => {
    const { got } = await import('got');
    return (call) => got(`${base}/${call}`);
  }],
  ky: ['ky', async () => {
    const ky = (await import('ky')).default;
    return (call) => ky.get(`${base}/${call}`).text();
  }],
  'p-retry': ['p-retry', async () => {
    const retry = (await import('p-retry')).default;
    return (call) => retry(() => fetch(`${base}/${call}`).then(fail), { retries: 4 });
  }],
  'async-retry': ['async-retry', async () => {
    const retry = (await import('async-retry')).default;
    return (call) => retry(() => fetch(`${base}/${call}`).then(fail), { retries: 4 });
  }],
  'exponential-backoff': ['exponential-backoff', async () => {
    const { backOff } = await import('exponential-backoff');
    return (call) => backOff(() => fetch(`${base}/${call}`).then(fail), { numOfAttempts: 6 });
  }],
  'fetch-retry': ['fetch-retry', async () => {
    const fetchRetry = (await import('fetch-retry')).default(fetch);
    return (call) => fetchRetry(`${base}/${call}`, { retryOn: [429, 503] }).then(fail);
  }],
  superagent: ['superagent', async () => {
    const superagent = (await import('superagent')).default;
    return (call) => superagent.get(`${base}/${call}`).retry(3);
  }],
  ofetch: ['ofetch', async () => {
    const { ofetch } = await import('ofetch');
    return (call) => ofetch(`${base}/${call}`);
  }],
  undici: ['undici', async () => {
    const { RetryAgent, Agent, request } = await import('undici');
    const dispatcher = new RetryAgent(new Agent());
    return (call) => request(`${base}/${call}`, { dispatcher }).then((r) => r.body.text());
  }],
  octokit: ['@octokit/plugin-retry', async () => {
    const { Octokit } = await import('@octokit/core');
    const { retry } = await import('@octokit/plugin-retry');
    const octokit = new (Octokit.plugin(retry))({ baseUrl: base, log: { debug() {}, info() {}, warn() {}, error() {} } });
    return (call) => octokit.request(`GET /repos/stub/${call}`);
  }],
  'openai-node': ['openai', async () => {
    const OpenAI = (await import('openai')).default;
    const client = new OpenAI({ apiKey: 'none', baseURL: `${base}/v1` });
    return (call) => client.models.retrieve(call);
  }],
  'anthropic-node': ['@anthropic-ai/sdk', async () => {
    const Anthropic = (await import('@anthropic-ai/sdk')).default;
    const client = new Anthropic({ apiKey: 'none', baseURL: base });
    return (call) => client.models.retrieve(call);
  }],
  'stripe-node': ['stripe', async () => {
    const Stripe = (await import('stripe')).default;
    const { hostname, port } = new URL(base);
    const stripe = new Stripe('sk_test_none', { protocol: 'http', host: hostname, port, maxNetworkRetries: 3, telemetry: false });
    return (call) => stripe.customers.retrieve(call);
  }],
  'aws-sdk-js': ['@aws-sdk/client-sqs', async () => {
    const { SQSClient, ListQueuesCommand } = await import('@aws-sdk/client-sqs');
    return (call) => new SQSClient({
      region: 'us-east-1', endpoint: `${base}/${call}`, credentials: { accessKeyId: 'key', secretAccessKey: 'none' },
    }).send(new ListQueuesCommand({}));
  }],
};

const library = libraries[process.argv[2]];
if (!library || !base) {
  console.error('usage: STUB=http://127.0.0.1:PORT node clients.mjs LIBRARY');
  process.exit(2);
}
const manifest = new URL(`node_modules/${library[0]}/package.json`, import.meta.url);
console.log('version', JSON.parse(readFileSync(manifest)).version);
const call = await library[1]();
for (const name of ['call-a', 'call-b']) {
  await call(name).then(() => console.log(`${name}: ok`), (e) => console.log(`${name}: ${String(e).slice(0, 300)}`));
}
process.exit(0); // what a library keeps open must not hold it
