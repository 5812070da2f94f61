import { createPrivateKey } from 'node:crypto';

import type {
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
