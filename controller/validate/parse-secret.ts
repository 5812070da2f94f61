import { schemaProblems, type SchemaProblem } from './check-schema.ts';
import { checkSecret } from './generated/check-manifest.js';
import { keptValues, type Secret } from './secret.ts';

/** A Secret manifest of valid shape. */
interface SecretManifest {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

/**
 * Reads a core/v1 Secret: `data` is base64, `stringData` is not and wins over it.
 *
 * Problems name keys and never values.
 */
export function parseSecret(document: unknown): Secret | readonly SchemaProblem[] {
  const problems = schemaProblems(checkSecret, document);
  if (problems.length > 0) return problems;
  // The schema was just checked.
  const { metadata, type, data = {}, stringData = {} } = document as SecretManifest;
  const undecodable = Object.entries(data).filter(([, text]) => !isBase64(text));
  if (undecodable.length > 0) {
    return undecodable.map(([key]) => ({ path: `data.${key}`, message: 'must be base64' }));
  }
  return {
    kind: 'Secret',
    metadata: { name: metadata.name, namespace: metadata.namespace ?? 'default' },
    values: keptValues({
      type,
      labels: metadata.labels,
      values: new Map([
        ...Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
        ...Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text)] as const),
      ]),
    }),
  };
}

/** RFC 4648, section 4. Whitespace is ignored, since folded YAML adds line breaks. */
function isBase64(text: string): boolean {
  const digits = text.replaceAll(/\s/g, '');
  return digits.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
}
