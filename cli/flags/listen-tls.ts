import type { ListenAddress } from '../../shared/runtime/listen-address.ts';
import type { Arguments, Flag } from '../arguments.ts';
import { parseListen } from './listen-addresses.ts';

/** `--listen-tls` of `gatehouse proxy`. */
export const LISTEN_TLS: Flag = {
  kind: 'text',
  environment: 'GATEHOUSE_LISTEN_TLS',
  defaultValue: ':8443',
  value: 'HOST:PORT',
  description: 'The same for HTTPS; opened once the configuration has a certificate.',
};

/** Reads `--listen-tls`. Throws `UsageError`. */
export function readListenTls(flags: Arguments): readonly ListenAddress[] {
  const addresses = parseListen('listen-tls', flags.text('listen-tls') ?? '');
  return addresses.map((address) => ({ ...address, isTls: true }));
}
