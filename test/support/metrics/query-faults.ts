import type { MetricFamily } from '../../../shared/telemetry/metrics/metric-family.ts';

/** Labels that Prometheus adds to all metrics of a process. */
const TARGET_LABELS = ['job', 'instance'];

/** What queries may use. */
export interface KnownMetrics {
  readonly families: readonly MetricFamily[];
  /** Returns the values that a label has, as far as they are known beforehand. */
  readonly valuesOf: (family: MetricFamily, label: string) => readonly string[];
}

/** A metric with matchers in a query. */
interface Selector {
  readonly name: string;
  readonly matchers: string;
  /** The function around it, such as `rate`; empty if there is none. */
  readonly within: string;
}

const SELECTOR = /(?:(\w+)\(\s*)?\b(gatehouse_\w+)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;

/**
 * Returns what is wrong with a PromQL query: metrics and labels that do not exist, values that labels never
 * have, rates of what does not count, and quantiles without buckets. Nothing if all is well.
 */
export function queryFaults(query: string, known: KnownMetrics): readonly string[] {
  return [...faultsOf(query, known)];
}

/** Returns the labels that the result of a query has. */
export function labelsOfQuery(query: string, { families }: KnownMetrics): readonly string[] {
  const groups = groupsOf(query);
  if (groups.length > 0) return groups;
  const all = selectorsOf(query).flatMap(({ name }) => familyOf(name, families)?.labels ?? []);
  return [...all, ...TARGET_LABELS];
}

function* faultsOf(query: string, known: KnownMetrics): Iterable<string> {
  const selectors = selectorsOf(query);
  if (selectors.length === 0) yield 'there is no metric';
  if (count(query, '(') !== count(query, ')')) yield 'the brackets do not match';
  for (const selector of selectors) yield* selectorFaults(selector, known);
  const used = selectors.flatMap(({ name }) => familyOf(name, known.families)?.labels ?? []);
  for (const label of groupsOf(query)) {
    if (!['le', ...used, ...TARGET_LABELS].includes(label)) yield `no metric has ${label}`;
  }
  if (query.includes('histogram_quantile') && !groupsOf(query).includes('le')) {
    yield 'a quantile needs le';
  }
}

function* selectorFaults(
  { name, matchers, within }: Selector,
  known: KnownMetrics,
): Iterable<string> {
  const family = familyOf(name, known.families);
  if (family === undefined) {
    yield `there is no metric ${name}`;
    return;
  }
  if (['rate', 'increase'].includes(within) && family.kind === 'gauge') yield `${name} is a gauge`;
  for (const [, label = '', operator = '', value = ''] of matchers.matchAll(MATCHER)) {
    if (TARGET_LABELS.includes(label)) continue;
    if (!family.labels.includes(label)) yield `${name} has no label ${label}`;
    else if (!value.startsWith('$') && !hasValues(value, operator, known.valuesOf(family, label))) {
      yield `${label} of ${name} is never ${value}`;
    }
  }
}

function hasValues(value: string, operator: string, values: readonly string[]): boolean {
  if (!operator.includes('~')) return values.includes(value);
  return value
    .split('|')
    .every((alternative) => values.some((each) => new RegExp(`^(?:${alternative})$`).test(each)));
}

function selectorsOf(query: string): readonly Selector[] {
  return [...query.matchAll(SELECTOR)].map(([, within = '', name = '', matchers = '']) => {
    return { name, matchers, within };
  });
}

function groupsOf(query: string): readonly string[] {
  return [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/, ?/));
}

/** A histogram has no line of its own name. */
function familyOf(name: string, families: readonly MetricFamily[]): MetricFamily | undefined {
  return families.find((family) =>
    family.kind === 'histogram'
      ? [`${family.name}_bucket`, `${family.name}_sum`, `${family.name}_count`].includes(name)
      : family.name === name,
  );
}

function count(text: string, part: string): number {
  return text.split(part).length;
}
