import { splitPair } from '../../../shared/telemetry/tracing/settings/parse-pairs.ts';
import type { SourcePlace } from '../origins.ts';
import { readSecret, type SecretSource } from './read-secret.ts';
import { SECRET_NAME, type TranslatedSecrets } from './translate-secret.ts';
import type { Mapping, PlainProblem } from './translate-keys.ts';

/** Keys with fields that are added to exports; their values may be secrets. */
const HEADER_KEYS = [
  { key: 'otel_exporter_otlp_headers', field: 'headers' },
  { key: 'otel_exporter_otlp_traces_headers', field: 'tracesHeaders' },
] as const;

const ATTRIBUTES_KEY = 'otel_resource_attributes';

/** Keys about tracing with lists of `key=value`, and those of files with such lines. */
export const TRACING_PAIR_KEYS: readonly string[] = [
  ...HEADER_KEYS.flatMap(({ key }) => [key, `${key}_file`]),
  ATTRIBUTES_KEY,
];

type Pair = readonly [key: string, value: string];

/** Pairs of the plain form, with the key that they were written at. */
type ReadPairs =
  | { readonly kind: 'absent' }
  | { readonly kind: 'pairs'; readonly pairs: readonly Pair[]; readonly written: string }
  | { readonly kind: 'problem'; readonly problem: PlainProblem };

/** Translates lists of `key=value` to fields of `spec.tracing`, and the values of header fields to secrets. */
export function translateTracingPairs(plain: Mapping, source: SecretSource): TranslatedSecrets {
  const parts = [
    ...HEADER_KEYS.map(({ key, field }) =>
      translateHeaders(readHeaders(plain, key, source), field),
    ),
    translateAttributes(readList(plain[ATTRIBUTES_KEY], ATTRIBUTES_KEY)),
  ];
  return {
    spec: Object.assign({}, ...parts.map(({ spec }) => spec)) as Mapping,
    secrets: Object.fromEntries(parts.flatMap(({ secrets }) => Object.entries(secrets))),
    origins: parts.flatMap(({ origins }) => origins),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

function translateHeaders(read: ReadPairs, field: string): TranslatedSecrets {
  return translate(read, field, (pairs) => {
    const secretKey = (index: number): string => `tracing-${field}-${String(index)}`.toLowerCase();
    const headers = pairs.map(([name], index) => ({
      name,
      valueFrom: { secretKeyRef: { name: SECRET_NAME, key: secretKey(index) } },
    }));
    const secrets = Object.fromEntries(pairs.map(([, value], index) => [secretKey(index), value]));
    return { items: headers, secrets };
  });
}

function translateAttributes(read: ReadPairs): TranslatedSecrets {
  return translate(read, 'resourceAttributes', (pairs) => ({
    items: pairs.map(([name, value]) => ({ name, value })),
    secrets: {},
  }));
}

function translate(
  read: ReadPairs,
  field: string,
  fieldsOf: (pairs: readonly Pair[]) => Pick<TranslatedSecrets, 'secrets'> & { items: unknown },
): TranslatedSecrets {
  if (read.kind === 'absent') return { spec: {}, secrets: {}, origins: [], problems: [] };
  if (read.kind === 'problem') {
    return { spec: {}, secrets: {}, origins: [], problems: [read.problem] };
  }
  const { items, secrets } = fieldsOf(read.pairs);
  const path = `spec.tracing.${field}`;
  const origins: SourcePlace[] = [{ field: path, written: read.written }];
  return { spec: { [field]: items }, secrets, origins, problems: [] };
}

function readHeaders(plain: Mapping, key: string, source: SecretSource): ReadPairs {
  const file = `${key}_file`;
  if (plain[key] !== undefined && plain[file] !== undefined) {
    return problem(file, `cannot be combined with ${key}`);
  }
  const secret = readSecret(plain, { file }, '', source);
  if (secret.kind === 'absent') return readList(plain[key], key);
  if (secret.kind === 'problem') return secret;
  const lines = secret.value.split(/\r?\n/).filter((line) => line.trim() !== '');
  return readList(lines, file);
}

/** Messages never contain the text, which may be a secret. */
function readList(value: unknown, key: string): ReadPairs {
  if (value === undefined) return { kind: 'absent' };
  if (!Array.isArray(value)) return problem(key, 'must be a list of texts such as key=value');
  const pairs = value.map((item) => (typeof item === 'string' ? splitPair(item) : undefined));
  const bad = pairs.indexOf(undefined);
  if (bad !== -1) return problem(`${key}[${String(bad)}]`, 'must be a text such as key=value');
  return { kind: 'pairs', pairs: pairs.filter((pair) => pair !== undefined), written: key };
}

function problem(path: string, message: string): Extract<ReadPairs, { kind: 'problem' }> {
  return { kind: 'problem', problem: { path, message } };
}
