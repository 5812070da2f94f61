import type { ChartValue } from '../generate/chart-values.ts';

/** Lists of the chart whose entries are texts. In all others they are objects. */
const LISTS_OF_TEXTS =
  /(imagePullSecrets|[nN]amespaces|extraArgs|ipFamilies|loadBalancerSourceRanges|retired)$/;

const FIRST_NUMBER = 51_000;

/** Returns the text that shows in what is rendered if a value is used. */
export function markOf(value: ChartValue, all: readonly ChartValue[]): string {
  const index = all.indexOf(value);
  return typeof value.defaultValue === 'number'
    ? String(FIRST_NUMBER + index)
    : `m${String(index)}m`;
}

/** Returns values in which each of `all` is a mark, but for those that `fixed` gives by their paths. */
export function withMarks(
  all: readonly ChartValue[],
  fixed: Readonly<Record<string, unknown>>,
): object {
  const values = {};
  for (const value of all) assign(values, value.path, marked(value, markOf(value, all)));
  for (const [path, value] of Object.entries(fixed)) assign(values, path, value);
  return values;
}

function marked({ path, defaultValue }: ChartValue, mark: string): unknown {
  if (typeof defaultValue === 'number') return Number(mark);
  if (typeof defaultValue === 'string') return mark;
  if (!Array.isArray(defaultValue)) return { [mark]: mark };
  return LISTS_OF_TEXTS.test(path) ? [mark] : [{ name: mark, spec: {} }];
}

/** Sets a member of nested objects by its path. */
function assign(values: Record<string, unknown>, path: string, value: unknown): void {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    values[name] = value;
    return;
  }
  // Made here only.
  const below = (values[name] ??= {}) as Record<string, unknown>;
  assign(below, rest.join('.'), value);
}
