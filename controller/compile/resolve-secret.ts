import { made, invalid, type CompileResult } from './compile-result.ts';
import { secretFault } from '../validate/secret-fault.ts';
import { REFERABLE_LABEL, referableValues } from '../validate/secret.ts';
import type { Secrets } from './resources.ts';

/** A key in a Secret of the settings' namespace. */
interface SecretRef {
  readonly name: string;
  readonly key: string;
}

/** The place of a reference, and the Secrets that it may refer to. */
interface Place {
  readonly namespace: string;
  readonly path: string;
  readonly secrets: Secrets;
}

/**
 * The text of a secret, without the line break that editors and `echo` put at its end. Never empty.
 * Problems never contain the secret.
 */
export function resolveSecret({ name, key }: SecretRef, place: Place): CompileResult<string> {
  const { namespace, path, secrets } = place;
  const kept = secrets.get(`${namespace}/${name}`);
  if (kept === undefined) {
    return invalid(path, 'SecretNotFound', `there is no Secret ${namespace}/${name}`);
  }
  const secret = referableValues(kept);
  // Attack: whoever may edit the settings could send any Secret of the namespace to an issuer of theirs.
  if (secret === 'unlabelled') {
    const message = `Secret ${namespace}/${name} lacks the label ${REFERABLE_LABEL}: "true"`;
    return invalid(path, 'SecretNotReferable', message);
  }
  const value = secret.get(key);
  if (value === undefined) {
    return invalid(path, 'SecretNotFound', `Secret ${namespace}/${name} has no key "${key}"`);
  }
  const text = decode(value)?.replace(/\r?\n$/, '');
  const fault = text === undefined ? 'is not text in UTF-8' : secretFault(text);
  if (text !== undefined && fault === undefined) return made(text);
  const what = `key "${key}" of Secret ${namespace}/${name} ${String(fault)}`;
  return invalid(path, 'InvalidSecret', what);
}

function decode(value: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(value);
  } catch {
    return undefined;
  }
}
