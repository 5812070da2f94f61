import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';

import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import { UsageError } from '../usage-error.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';

const MAX_PORT = 65_535;

/**
 * Where to listen for a snapshot: the addresses asked for, and every port that a loopback origin of
 * the snapshot names and that none of them covers.
 *
 * A loopback name may mean either family, so such a port is taken on 127.0.0.1 and, where the
 * machine has it, on ::1.
 */
export function listenAddresses(
  snapshot: Snapshot,
  listen: readonly ListenAddress[],
  withIpv6: boolean,
): readonly ListenAddress[] {
  const taken = new Set(listen.map(({ port }) => port));
  const ports = new Set(loopbackPorts(snapshot).filter((port) => !taken.has(port)));
  const hosts = withIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'];
  return [...listen, ...[...ports].flatMap((port) => hosts.map((host) => ({ host, port })))];
}

/** Ports of plain-http origins on this machine, routes' and the sign-in host's. */
function loopbackPorts(snapshot: Snapshot): readonly number[] {
  return [...snapshot.resources.values()].flatMap(({ value }) => {
    if (value.kind === 'route') {
      return value.scheme === 'http' && isLoopbackHost(value.host) ? [value.port] : [];
    }
    if (value.kind !== 'settings' || value.authenticateOrigin === undefined) return [];
    const { protocol, hostname, port } = new URL(value.authenticateOrigin);
    if (protocol !== 'http:' || !isLoopbackHost(hostname)) return [];
    return [port === '' ? 80 : Number(port)];
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

/** `::` takes IPv4 too, and cannot be listened on where the kernel has no IPv6. */
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
