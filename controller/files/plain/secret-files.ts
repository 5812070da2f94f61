import { dirname, resolve } from 'node:path';

import { isRecord } from '../../../shared/runtime/is-record.ts';
import type { SourceDocument } from '../parse-documents.ts';
import { isPlainForm } from './is-plain-form.ts';
import {
  AUTHORITIES_FILE_KEY,
  CERTIFICATE_FILE_KEYS,
  CLIENT_SECRET_KEYS,
  EXPORT_HEADER_FILE_KEYS,
} from './plain-keys.ts';
import { upstreamOAuthOf } from './upstream-oauth-of.ts';

/** The text of a secret file, or why there is none: `cannot be read`. */
export type SecretFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Secret files by absolute path. */
export type SecretFiles = ReadonlyMap<string, SecretFile>;

/** Absolute paths of the files that a plain form names for its secrets and certificates. */
export function secretFileNames({ file, value }: SourceDocument): readonly string[] {
  if (!isPlainForm(value)) return [];
  const providers = isRecord(value['identity_providers']) ? value['identity_providers'] : {};
  const routes: readonly unknown[] = Array.isArray(value['routes']) ? value['routes'] : [];
  const names = [
    value['signing_key_file'],
    ...EXPORT_HEADER_FILE_KEYS.map((key) => value[key]),
    ...routes.map((route) => upstreamOAuthOf(route)[CLIENT_SECRET_KEYS.file]),
    ...routes.flatMap((route) => certificateFiles(isRecord(route) ? route['tls'] : undefined)),
    ...certificateFiles(value['default_certificate']),
    ...Object.values(providers).flatMap((provider) =>
      isRecord(provider) ? [provider[CLIENT_SECRET_KEYS.file], provider[AUTHORITIES_FILE_KEY]] : [],
    ),
  ];
  return names.filter((name) => typeof name === 'string').map((name) => secretFilePath(file, name));
}

function certificateFiles(value: unknown): readonly unknown[] {
  return isRecord(value) ? CERTIFICATE_FILE_KEYS.map((key) => value[key]) : [];
}

/** Resolves a name, relative to the configuration file. */
export function secretFilePath(file: string, name: string): string {
  return resolve(dirname(file), name);
}
