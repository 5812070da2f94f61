import { secretFault } from '../../validate/secret-fault.ts';
import { secretFilePath, type SecretFiles } from './secret-files.ts';
import type { Mapping, PlainProblem } from './translate-keys.ts';

/** A secret of the plain form, or the problem with it. */
export type ReadSecret =
  | { readonly kind: 'absent' }
  | { readonly kind: 'secret'; readonly value: string; readonly key: string }
  | { readonly kind: 'problem'; readonly problem: PlainProblem };

/** The files that secrets of a plain form are read from. */
export interface SecretSource {
  /** The configuration file, which relative names refer to. */
  readonly file: string;
  readonly secretFiles: SecretFiles;
}

/** The keys that may contain a secret, or name its file. */
export interface SecretKeys {
  readonly inline?: string;
  readonly file: string;
}

/**
 * Reads a secret from the key `keys.inline`, or from the file that the key `keys.file` names.
 *
 * The line break at the end of a file is not part of the secret. Messages never contain the secret.
 */
export function readSecret(
  mapping: Mapping,
  keys: SecretKeys,
  written: string,
  source: SecretSource,
): ReadSecret {
  const inline = keys.inline === undefined ? undefined : mapping[keys.inline];
  const name = mapping[keys.file];
  const at = (key = ''): string => (written === '' ? key : `${written}.${key}`);
  if (inline !== undefined && name !== undefined) {
    return problem(at(keys.file), `cannot be combined with ${String(keys.inline)}`);
  }
  if (inline !== undefined) return readInline(inline, at(keys.inline));
  return name === undefined ? { kind: 'absent' } : readFromFile(name, at(keys.file), source);
}

function readInline(value: unknown, key: string): ReadSecret {
  if (typeof value !== 'string') return problem(key, 'must be a string');
  if (value === '') return problem(key, 'must not be empty');
  const fault = secretFault(value);
  if (fault !== undefined) return problem(key, fault);
  return { kind: 'secret', value, key };
}

function readFromFile(name: unknown, key: string, source: SecretSource): ReadSecret {
  if (typeof name !== 'string') return problem(key, 'must be the name of a file');
  const file = source.secretFiles.get(secretFilePath(source.file, name));
  if (file?.kind !== 'text') {
    return problem(key, `the file ${name} ${file?.why ?? 'cannot be read'}`);
  }
  const value = file.text.replace(/\r?\n$/, '');
  const fault = secretFault(value);
  if (fault !== undefined) return problem(key, `the file ${name} ${fault}`);
  return { kind: 'secret', value, key };
}

function problem(path: string, message: string): ReadSecret {
  return { kind: 'problem', problem: { path, message } };
}
