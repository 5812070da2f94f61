import { isRecord } from '../../../shared/runtime/is-record.ts';
import type { SourcePlace } from '../origins.ts';
import { AUTHORITIES_FILE_KEY, CERTIFICATE_FILE_KEYS } from './plain-keys.ts';
import { NAMESPACE, type PlainManifest } from './plain-manifest.ts';
import { readSecret, type SecretSource } from './read-secret.ts';
import { translateKeys, type Mapping, type PlainProblem } from './translate-keys.ts';

/** A reference to an object that is made of files. */
export interface TranslatedFiles {
  /** Undefined if no file is named. */
  readonly ref: { readonly name: string } | undefined;
  readonly manifests: readonly PlainManifest[];
  readonly origins: readonly SourcePlace[];
  readonly problems: readonly PlainProblem[];
}

/** Where files are named, and the field and the name of the object that they become. */
export interface FilesPlace {
  readonly written: string;
  readonly field: string;
  readonly name: string;
}

const ABSENT: TranslatedFiles = { ref: undefined, manifests: [], origins: [], problems: [] };

/**
 * Translates a mapping with `cert_file` and `key_file` to a Secret. A file that cannot be read is a problem with the
 * Secret, so that what refers to it serves.
 */
export function translateCertificate(
  value: unknown,
  { written, field, name }: FilesPlace,
  source: SecretSource,
): TranslatedFiles {
  if (value === undefined) return ABSENT;
  const origins = [{ field, written }];
  if (!isRecord(value)) {
    const message = 'must be a mapping with cert_file and key_file';
    return { ...ABSENT, origins, problems: [{ path: written, message }] };
  }
  const place = { field, written };
  const { problems } = translateKeys(value, {}, place, CERTIFICATE_FILE_KEYS);
  const [certificate, key] = CERTIFICATE_FILE_KEYS.map((file) =>
    requiredFile(value, file, written, source),
  );
  const data = { 'tls.crt': certificate?.text ?? '', 'tls.key': key?.text ?? '' };
  const unread = [...(certificate?.problems ?? []), ...(key?.problems ?? [])];
  const secret = { type: 'kubernetes.io/tls', stringData: data };
  return {
    ref: { name },
    manifests: [{ manifest: coreManifest('Secret', name, secret), origins, problems: unread }],
    origins,
    problems,
  };
}

/** Translates `ca_file` to a ConfigMap. */
export function translateAuthorities(
  mapping: Mapping,
  { written, field, name }: FilesPlace,
  source: SecretSource,
): TranslatedFiles {
  if (mapping[AUTHORITIES_FILE_KEY] === undefined) return ABSENT;
  const { text, problems } = requiredFile(mapping, AUTHORITIES_FILE_KEY, written, source);
  const origins = [{ field, written: `${written}.${AUTHORITIES_FILE_KEY}` }];
  const configMap = coreManifest('ConfigMap', name, { data: { 'ca.crt': text } });
  const manifests = [{ manifest: configMap, origins, problems }];
  return { ref: { name }, manifests, origins, problems: [] };
}

function requiredFile(
  mapping: Mapping,
  key: string,
  written: string,
  source: SecretSource,
): { readonly text: string; readonly problems: readonly PlainProblem[] } {
  const file = readSecret(mapping, { file: key }, written, source);
  switch (file.kind) {
    case 'secret':
      return { text: `${file.value}\n`, problems: [] };
    case 'absent':
      return { text: '', problems: [{ path: `${written}.${key}`, message: 'is required' }] };
    case 'problem':
      return { text: '', problems: [file.problem] };
  }
}

function coreManifest(kind: string, name: string, content: Mapping): Mapping {
  return { apiVersion: 'v1', kind, metadata: { name, namespace: NAMESPACE }, ...content };
}
