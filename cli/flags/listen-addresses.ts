import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';

import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import { UsageError } from '../usage-error.ts';
import { DEFAULT_PORTS } from '../../shared/snapshot/origin.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';

const MAX_PORT = 65_535;

/**
 * Returns the addresses to listen on for a snapshot: the requested ones, and every other port of a
 * loopback origin in the snapshot.
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
  const ports = new Set(loopbackPorts(snapshot).filter((port) => !requested.has(port)));
  const hosts = withIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
  return [...listen, ...[...ports].flatMap((port) => hosts.map((host) => ({ host, port })))];
}

/** Returns the ports of plain http origins on this machine, of routes and of the sign-in host. */
function loopbackPorts(snapshot: Snapshot): readonly number[] {
  return [...snapshot.resources.values()].flatMap(({ value }) => {
    if (value.kind === 'route') {
      return value.scheme === 'http' && isLoopbackHost(value.host) ? [value.port] : [];
    }
    if (value.kind !== 'settings' || value.authenticateOrigin === undefined) return [];
    const { protocol, hostname, port } = new URL(value.authenticateOrigin);
    if (protocol !== 'http:' || !isLoopbackHost(hostname)) return [];
    return [port === '' ? DEFAULT_PORTS.http : Number(port)];
  });
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
