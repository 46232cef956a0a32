// Reads C# from a file and tells where it does not follow the grammar:
// node csharp.mjs FILE. It ends with 1 where there is such a place.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Language, Parser } from 'web-tree-sitter';

const grammar = createRequire(import.meta.url).resolve('tree-sitter-c-sharp/tree-sitter-c_sharp.wasm');
await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(grammar));

const text = await readFile(process.argv[2], 'utf8');
const root = parser.parse(text).rootNode;

function report(node) {
  if (node.isError || node.isMissing) {
    const { row, column } = node.startPosition;
    const what = node.isMissing ? `${node.type} is missing` : `cannot read ${JSON.stringify(node.text.slice(0, 60))}`;
    console.error(`line ${row + 1}, column ${column + 1}: ${what}`);
    return;
  }
  node.children.forEach(report);
}

if (root.hasError) {
  report(root);
  process.exit(1);
}
