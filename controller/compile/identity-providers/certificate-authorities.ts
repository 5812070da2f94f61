import { X509Certificate } from 'node:crypto';

import { invalid, made, type CompileResult } from '../compile-result.ts';
import type { ConfigMaps } from '../resources.ts';

/** A reference of an identity provider to certificate authorities. */
interface AuthoritiesRef {
  readonly name: string;
  readonly key?: string;
}

/** The place of a provider, and the ConfigMaps that it may refer to. */
interface Place {
  readonly path: string;
  readonly namespace: string;
  readonly configMaps: ConfigMaps;
}

const DEFAULT_KEY = 'ca.crt';
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Returns the certificates of authorities in PEM, without what is written between them. There is at least one,
 * because a provider without any authority could not be asked.
 */
export function resolveAuthorities(
  { name, key = DEFAULT_KEY }: AuthoritiesRef,
  { path, namespace, configMaps }: Place,
): CompileResult<string> {
  const at = `${path}.caRef`;
  const values = configMaps.get(`${namespace}/${name}`);
  if (values === undefined) {
    return invalid(at, 'ConfigMapNotFound', `there is no ConfigMap ${namespace}/${name}`);
  }
  const text = values.get(key);
  const what = `ConfigMap ${namespace}/${name}`;
  if (text === undefined) return invalid(at, 'ConfigMapNotFound', `${what} has no key "${key}"`);
  const blocks = text.match(BLOCK) ?? [];
  if (blocks.length === 0) {
    return invalid(at, 'InvalidConfigMap', `key "${key}" of ${what} has no certificate in PEM`);
  }
  const unreadable = blocks.findIndex((block) => !isCertificate(block));
  if (unreadable === -1) return made(blocks.map((block) => `${block}\n`).join(''));
  const message = `certificate ${String(unreadable + 1)} in key "${key}" of ${what} cannot be read`;
  return invalid(at, 'InvalidConfigMap', message);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).toString() !== '';
  } catch {
    return false;
  }
}
