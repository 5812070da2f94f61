import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

import type {
  CompiledCertificate,
  CompiledResource,
  CompiledSettings,
  CompiledSigningKeys,
} from '../../shared/snapshot/snapshot.ts';
import { addressRanges } from '../http/address-ranges.ts';
import { clientAddressBehind } from '../http/client-address.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import { gatewayRoute } from './routing-table.ts';
import { servicePorts } from './service-targets.ts';

/** Returns the function that finds the address of a client behind the trusted proxies. */
export const clientAddressOf = oncePerObject(({ trustedProxies }: CompiledSettings) =>
  clientAddressBehind(trustedProxies),
);

/**
 * Makes a resource ready to serve, before the configuration is built with it. Throws if it cannot be
 * served; the message holds no secret.
 */
export function makeResourceReady(value: CompiledResource): void {
  switch (value.kind) {
    case 'settings':
      makeSettingsReady(value);
      return;
    case 'signing-keys':
      value.keys.forEach(checkSigningKey);
      return;
    case 'identity-provider':
      checkUrl('issuer', value.issuer);
      return;
    case 'route':
      gatewayRoute(value);
      return;
    case 'service':
      servicePorts(value);
      return;
    case 'held-host':
      return;
    case 'certificate':
      checkCertificate(value);
      return;
  }
}

function makeSettingsReady(settings: CompiledSettings): void {
  clientAddressOf(settings);
  addressRanges(settings.outboundAllowedCidrs);
  const { authenticateOrigin } = settings;
  if (authenticateOrigin !== undefined) checkUrl('authenticateOrigin', authenticateOrigin);
}

function checkUrl(name: string, url: string): void {
  if (!URL.canParse(url)) throw new Error(`${name} is not a URL`);
}

const KEY_TYPES = { ES256: 'ec', RS256: 'rsa', EdDSA: 'ed25519' } as const;

function checkSigningKey({
  keyId,
  algorithm,
  privateKey,
}: CompiledSigningKeys['keys'][number]): void {
  if (keyTypeOf(privateKey) === KEY_TYPES[algorithm]) return;
  throw new Error(`the key ${JSON.stringify(keyId)} is not a private key for ${algorithm}`);
}

/** Returns undefined if it is not a key. The cause is dropped, because it may show the key. */
function keyTypeOf(privateKey: string): string | undefined {
  try {
    return createPrivateKey(privateKey).asymmetricKeyType;
  } catch {
    return undefined;
  }
}

/** The cause is dropped, because it may show the key. */
function checkCertificate({ certificate, privateKey }: CompiledCertificate): void {
  if (!isKeyOf(certificate, privateKey)) {
    throw new Error('the key does not belong to the certificate, or one of them cannot be read');
  }
  try {
    // It also judges how strong they are, by the rules of OpenSSL.
    createSecureContext({ cert: certificate, key: privateKey });
  } catch {
    throw new Error('OpenSSL refuses to serve the certificate');
  }
}

function isKeyOf(certificate: string, privateKey: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  } catch {
    return false;
  }
}
