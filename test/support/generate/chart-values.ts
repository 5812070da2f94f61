import { isMap, isScalar, parseDocument, stringify, type Pair } from 'yaml';

/** A value of the chart, as the comment beside it describes it. */
export interface ChartValue {
  /** `proxy.service.type` */
  readonly path: string;
  readonly defaultValue: unknown;
  readonly description: string;
}

/** Begins the comment of a value that has no values of its own. */
const DESCRIBED = /^\s*--\s*/;

/** Reads the values of the chart, each with its comment. Throws if one has none. */
export function readChartValues(text: string): readonly ChartValue[] {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) throw new Error('values.yaml is not a map');
  // The comment before the first key belongs to the file, or to the map.
  return contents.items.flatMap((pair) => valuesOf(pair, ''));
}

function valuesOf({ key, value }: Pair, parent: string): readonly ChartValue[] {
  if (!isScalar(key)) throw new Error(`a key below ${parent} is no text`);
  const path = `${parent}${String(key.value)}`;
  const description = describe(key.commentBefore ?? '');
  if (description !== undefined) {
    const node = value as { toJSON?: () => unknown } | null;
    return [{ path, defaultValue: node?.toJSON?.(), description }];
  }
  if (!isMap(value) || value.items.length === 0) throw new Error(`${path} has no comment`);
  const [first, ...others] = value.items;
  // The parser gives the comment before the first key to the map.
  if (first !== undefined && isScalar(first.key)) {
    first.key.commentBefore ??= value.commentBefore ?? null;
  }
  return [first, ...others].flatMap((pair) =>
    pair === undefined ? [] : valuesOf(pair, `${path}.`),
  );
}

function describe(comment: string): string | undefined {
  // A comment of the whole file may precede it, after an empty line.
  const lines = comment.split('\n').map((line) => line.trimStart());
  const begin = lines.findIndex((line) => DESCRIBED.test(line));
  if (begin === -1) return undefined;
  return lines.slice(begin).join(' ').replace(DESCRIBED, '');
}

/** Returns a default as a cell of a table shows it. */
export function formatDefault(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  return `\`${text.replaceAll('|', '\\|')}\``;
}
