import type { ConnectionLimits } from '../../proxy/server/connection-counter.ts';
import type { Arguments, Flag } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

/** Flags that bound connections, the same for every process that serves requests. */
export const CONNECTION_LIMITS = {
  'max-connections': {
    kind: 'text',
    environment: 'GATEHOUSE_MAX_CONNECTIONS',
    defaultValue: '20000',
    value: 'NUMBER',
    description: 'How many connections clients may have at a time; 0 is no limit.',
  },
  'max-connections-per-client': {
    kind: 'text',
    environment: 'GATEHOUSE_MAX_CONNECTIONS_PER_CLIENT',
    defaultValue: '2000',
    value: 'NUMBER',
    description: 'The same of one IPv4 address, or /64 network of IPv6; not of trusted proxies.',
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** Reads the flags that bound connections. Throws `UsageError`. */
export function readConnectionLimits(flags: Arguments): ConnectionLimits {
  return {
    total: readCount(flags, 'max-connections'),
    perClient: readCount(flags, 'max-connections-per-client'),
  };
}

function readCount(flags: Arguments, flag: keyof typeof CONNECTION_LIMITS): number {
  const text = flags.text(flag) ?? '';
  if (/^\d{1,7}$/.test(text)) return Number(text);
  const place = `--${flag} (or ${CONNECTION_LIMITS[flag].environment})`;
  throw new UsageError(`${place}: "${text}" is not a whole number from 0 to 9999999`);
}
