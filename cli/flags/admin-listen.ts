import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import type { Arguments, Flag } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';
import { parseListen } from './listen-addresses.ts';

/** The admin port of a process in a cluster, where probes come from other machines. */
export const ADMIN_LISTEN: Flag = {
  kind: 'text',
  environment: 'GATEHOUSE_ADMIN_LISTEN',
  defaultValue: ':9090',
  value: 'HOST:PORT',
  description: 'Where to serve /livez, /readyz, /metrics and /debug/snapshot. Must not be public.',
};

/** Reads `--admin-listen`. Throws `UsageError`. */
export function readAdminListen(flags: Arguments): ListenAddress {
  const [address, ...others] = parseListen('admin-listen', flags.text('admin-listen') ?? '');
  if (address !== undefined && others.length === 0) return address;
  throw new UsageError('--admin-listen takes one address');
}
