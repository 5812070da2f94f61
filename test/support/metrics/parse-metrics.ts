/** A metric as a scrape shows it. */
export interface ScrapedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ScrapedSample[];
}

/** One line of a scrape. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const HEAD = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/**
 * Parses the text format of Prometheus, strictly: each metric is one group with `HELP`, `TYPE` and its
 * samples, which have no labels twice. Throws with the line that breaks the format.
 */
export function parseMetrics(text: string): ReadonlyMap<string, ScrapedMetric> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const metrics = new Map<string, ScrapedMetric & { readonly samples: ScrapedSample[] }>();
  let current: (ScrapedMetric & { readonly samples: ScrapedSample[] }) | undefined;
  let help: string | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = HEAD.exec(line) ?? [];
    if (kind === 'HELP') {
      if (metrics.has(name)) throw new Error(`two groups of one metric: ${line}`);
      help = rest;
      current = undefined;
    } else if (kind === 'TYPE') {
      if (help === undefined) throw new Error(`TYPE without HELP: ${line}`);
      current = { name, type: rest, help, samples: [] };
      metrics.set(name, current);
      help = undefined;
    } else {
      if (current === undefined) throw new Error(`a sample outside of its metric: ${line}`);
      current.samples.push(parseSample(line));
    }
  }
  return metrics;
}

function parseSample(line: string): ScrapedSample {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  return { name, labels: parseLabels(labels, line), value: parseValue(value, line) };
}

function parseLabels(text: string, line: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || name in labels) throw new Error(`wrong labels: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
  }
  return labels;
}

function parseValue(text: string | undefined, line: string): number {
  const value = text === '+Inf' ? Infinity : Number(text);
  if (Number.isNaN(value)) throw new Error(`no value: ${line}`);
  return value;
}
