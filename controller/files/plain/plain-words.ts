import { SETTINGS_RESOURCE } from './translate-plain-form.ts';
import { IDENTITY_PROVIDER_KEYS, isGroup, ROUTE_KEYS, SETTINGS_KEYS } from './plain-keys.ts';
import type { PlainKeys } from './plain-keys.ts';

const WORDS: ReadonlyMap<string, string> = new Map([
  ...wordsOf(ROUTE_KEYS),
  ...wordsOf(SETTINGS_KEYS),
  ...wordsOf(IDENTITY_PROVIDER_KEYS),
  ['identityProviders', 'identity_providers'],
  ['clientSecretRef', 'client_secret'],
  ['signingKeyRefs', 'signing_key_file'],
  ['defaultCertificateRef', 'default_certificate'],
  ['caRef', 'ca_file'],
]);

/** Objects that are made of files, whose names nobody wrote. */
const NO_CERTIFICATE = /\bthere is no Secret default\/gatehouse-(?:route-\d+|default)-tls\b/g;
const CERTIFICATE = /\bSecret default\/gatehouse-(?:route-\d+|default)-tls\b/g;
const AUTHORITIES = /\bkey "ca\.crt" of ConfigMap default\/gatehouse-identity-provider-\d+/g;

/** The plain form has no `backendRefs`: Services exist only in a cluster. */
const NO_UPSTREAM = ['exactly one of to and backendRefs must be set', 'to must be set'] as const;

/** Replaces names of fields in a message by the keys of the plain form. */
export function inPlainWords(message: string): string {
  return message
    .replaceAll(...NO_UPSTREAM)
    .replaceAll(SETTINGS_RESOURCE, 'this file')
    .replaceAll(NO_CERTIFICATE, 'there is no certificate yet')
    .replaceAll(CERTIFICATE, 'this pair of files')
    .replaceAll(AUTHORITIES, 'the file')
    .replaceAll('its tls.crt', 'its cert_file')
    .replaceAll('its tls.key', 'its key_file')
    .replaceAll(/\b[a-z]+(?:[A-Z][a-z0-9]*)+\b/g, (word) => WORDS.get(word) ?? word);
}

function wordsOf(keys: PlainKeys): readonly (readonly [string, string])[] {
  return Object.entries(keys).flatMap(([name, key]) => [
    // Messages name the field, as in `sameSite`, and not those around it.
    [key.field.replace(/^.*\./, ''), name] as const,
    ...(isGroup(key) ? wordsOf(key.keys) : []),
  ]);
}
