import { oncePerObject } from '../cache/once-per-object.ts';
import { addressRanges, isWithin } from '../http/address-ranges.ts';
import { plainAddress } from '../http/client-address.ts';
import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';

const LOOPBACK = addressRanges(['127.0.0.0/8', '::1']);

const trustedRanges = oncePerObject(
  ({ trustedProxies }: Pick<CompiledSettings, 'trustedProxies'>) => addressRanges(trustedProxies),
);

/**
 * Returns whether the address of a connection is one of a server in front of the gateway: a trusted proxy,
 * or a server on this machine. `settings` is undefined before the first snapshot.
 */
export function isServerInFront(
  remoteAddress: string,
  settings: Pick<CompiledSettings, 'trustedProxies'> | undefined,
): boolean {
  const address = plainAddress(remoteAddress);
  if (isWithin(LOOPBACK, address)) return true;
  return settings !== undefined && isTrustedProxy(address, settings);
}

/** Returns whether the address of a connection is one of a trusted proxy. */
export function isTrustedProxy(
  remoteAddress: string,
  settings: Pick<CompiledSettings, 'trustedProxies'>,
): boolean {
  // Most gateways have none.
  if (settings.trustedProxies.length === 0) return false;
  return isWithin(trustedRanges(settings), plainAddress(remoteAddress));
}
