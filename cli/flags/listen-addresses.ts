import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';

import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import { UsageError } from '../usage-error.ts';
import { DEFAULT_PORTS } from '../../shared/snapshot/origin.ts';
import type { CompiledRoute, Snapshot } from '../../shared/snapshot/snapshot.ts';

const MAX_PORT = 65_535;

/**
 * Returns the addresses to listen on for a snapshot: the requested ones, and every other port of a
 * loopback origin in the snapshot. Port 443 of one with https is left to what forwards it.
 *
 * A loopback name may mean either family, so such a port is opened on 127.0.0.1, and also on ::1 if the
 * machine has that address.
 */
export function listenAddresses(
  snapshot: Snapshot,
  listen: readonly ListenAddress[],
  withIpv6: boolean,
): readonly ListenAddress[] {
  const requested = new Set(listen.map(({ port }) => port));
  const others = new Map<number, Omit<ListenAddress, 'host'>>();
  for (const address of loopbackPorts(snapshot)) {
    if (!requested.has(address.port)) others.set(address.port, address);
  }
  const hosts = withIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
  const added = [...others.values()].flatMap((address) =>
    hosts.map((host) => ({ host, ...address })),
  );
  return [...listen, ...added];
}

/** Returns the ports of origins on this machine, of routes and of the sign-in host. */
function loopbackPorts(snapshot: Snapshot): readonly Omit<ListenAddress, 'host'>[] {
  return [...snapshot.resources.values()].flatMap(({ value }) => {
    if (value.kind === 'route') return loopbackPort(value);
    if (value.kind !== 'settings' || value.authenticateOrigin === undefined) return [];
    const { protocol, hostname, port } = new URL(value.authenticateOrigin);
    const scheme = protocol === 'http:' ? 'http' : 'https';
    return loopbackPort({
      scheme,
      host: hostname,
      port: port === '' ? DEFAULT_PORTS[scheme] : Number(port),
    });
  });
}

function loopbackPort({
  scheme,
  host,
  port,
}: Pick<CompiledRoute, 'scheme' | 'host' | 'port'>): readonly Omit<ListenAddress, 'host'>[] {
  if (!isLoopbackHost(host)) return [];
  if (scheme === 'http') return [{ port }];
  return port === DEFAULT_PORTS.https ? [] : [{ port, isTls: true }];
}

/** Reads `HOST:PORT`, `[V6]:PORT` or `:PORT` (every interface), several separated by commas. */
export function parseListen(flag: string, text: string): readonly ListenAddress[] {
  return text.split(',').map((address) => parseOne(flag, address.trim()));
}

function parseOne(flag: string, text: string): ListenAddress {
  const match = /^(\[[\da-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(text);
  const [, host = '', port = ''] = match ?? [];
  if (match === null || Number(port) > MAX_PORT) {
    throw new UsageError(`--${flag}: "${text}" is not HOST:PORT`);
  }
  return {
    host: host === '' ? everyInterface() : host.replace(/^\[|\]$/g, ''),
    port: Number(port),
  };
}

/** Returns `::`, which accepts IPv4 too, or `0.0.0.0` if the kernel has no IPv6. */
function everyInterface(): string {
  return hasIpv6() ? '::' : '0.0.0.0';
}

function hasIpv6(): boolean {
  return localAddresses().some(({ family }) => family === 'IPv6');
}

/** Whether this machine has ::1. */
export function hasIpv6Loopback(): boolean {
  return localAddresses().some(({ address }) => address === '::1');
}

function localAddresses(): readonly NetworkInterfaceInfo[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
}
