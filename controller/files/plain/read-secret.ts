import { secretFilePath, type SecretFiles } from './secret-files.ts';
import type { Mapping, PlainProblem } from './translate-keys.ts';

/** A secret of the plain form, or the problem with it. */
export type ReadSecret =
  | { readonly kind: 'absent' }
  | { readonly kind: 'secret'; readonly value: string; readonly key: string }
  | { readonly kind: 'problem'; readonly problem: PlainProblem };

/** Where secrets of a plain form are read from. */
export interface SecretSource {
  /** The configuration file, to which relative names refer. */
  readonly file: string;
  readonly secretFiles: SecretFiles;
}

/**
 * Reads a secret from the key `keys.inline`, or from the file that the key `keys.file` names.
 *
 * The line break at the end of a file is not part of the secret. Messages never contain the secret.
 */
export function readSecret(
  mapping: Mapping,
  keys: { readonly inline?: string; readonly file: string },
  written: string,
  source: SecretSource,
): ReadSecret {
  const inline = keys.inline === undefined ? undefined : mapping[keys.inline];
  const name = mapping[keys.file];
  const at = (key: string): string => (written === '' ? key : `${written}.${key}`);
  const problem = (key: string, message: string): ReadSecret => ({
    kind: 'problem',
    problem: { path: at(key), message },
  });
  if (inline !== undefined && name !== undefined) {
    return problem(keys.file, `cannot be combined with ${String(keys.inline)}`);
  }
  if (inline !== undefined && keys.inline !== undefined) {
    if (typeof inline !== 'string') return problem(keys.inline, 'must be a string');
    if (inline === '') return problem(keys.inline, 'must not be empty');
    return { kind: 'secret', value: inline, key: at(keys.inline) };
  }
  if (name === undefined) return { kind: 'absent' };
  if (typeof name !== 'string') return problem(keys.file, 'must be the name of a file');
  const text = source.secretFiles.get(secretFilePath(source.file, name));
  if (text === undefined) return problem(keys.file, `the file ${name} cannot be read`);
  const value = text.replace(/\r?\n$/, '');
  if (value === '') return problem(keys.file, `the file ${name} is empty`);
  return { kind: 'secret', value, key: at(keys.file) };
}
