package report

import (
	"strings"

	"stormwatch/detect"
)

type jsonLayers struct {
	Rows       []jsonLayer `json:"rows"`
	Multiplier number      `json:"multiplier"`
	Worst      number      `json:"worst"`
	Proof      maybe       `json:"proof"` // "counters", "declared tries", "ids", "timing"
	Inferred   bool        `json:"inferred"`
}

type jsonLayer struct {
	Name       text   `json:"name"`
	PerRequest number `json:"per_request"`
	Most       *int   `json:"most"`
	Seen       bool   `json:"seen"`
	Pressure   bool   `json:"pressure"`
}

func layersOf(l *detect.Layers) *jsonLayers {
	if len(l.Rows) == 0 {
		return nil
	}
	return &jsonLayers{each(l.Rows, layerOf), number(l.Multiplier), number(l.Worst), maybe(l.Proof), l.Inferred}
}

func layerOf(l *detect.Layer) jsonLayer {
	out := jsonLayer{Name: text(l.Name), PerRequest: number(l.PerRequest), Seen: l.Seen, Pressure: l.Pressure}
	if l.Most > 0 {
		out.Most = &l.Most
	}
	return out
}

// layers tells the places on the way that send requests again, and what proves it.
func (p *page) layers(s *detect.Snapshot) {
	if len(s.Layers.Rows) == 0 {
		return
	}
	p.head("Layers of retries", strings.TrimPrefix(layersNote(&s.Layers), ", "))
	column := labels
	for i := range s.Layers.Rows {
		column = max(column, min(width(clean(s.Layers.Rows[i].Name)), 24)+2)
	}
	for i := range s.Layers.Rows {
		l := &s.Layers.Rows[i]
		parts := []string{times(l.PerRequest) + " attempts per request"}
		if l.Most > 0 {
			parts = append(parts, Count(l.Most)+" at most")
		}
		if note := layerText(l); note != "" {
			parts = append(parts, note)
		}
		p.term(2, clip(clean(l.Name), 24), column, strings.Join(parts, ", "))
	}
}
