import { KUBECONFIG } from '../../flags/kubeconfig.ts';
import type { Arguments, CommandLine } from '../../arguments.ts';
import { UsageError } from '../../usage-error.ts';

/** Flags of `gatehouse create-secrets`. */
export const CREATE_SECRETS_LINE: CommandLine = {
  name: 'create-secrets',
  summary: 'Make the Secrets that controllers and proxies of a cluster need, and rotate them',
  flags: {
    kubeconfig: KUBECONFIG,
    namespace: {
      kind: 'text',
      environment: 'GATEHOUSE_NAMESPACE',
      value: 'NAME',
      description:
        'Namespace of the controllers. Defaults to that of the pod, or of the context of the kubeconfig.',
    },
    'proxy-namespace': {
      kind: 'text',
      value: 'NAME',
      description: 'Namespace of the proxies. Defaults to that of the controllers.',
    },
    'sealing-keys': {
      kind: 'text',
      value: 'NAME',
      description: 'Secret of the proxies with the sealing keys. A missing one gets a first key.',
    },
    'next-sealing-key': {
      kind: 'text',
      value: 'KEY',
      description: 'Adds a key that opens, and does not seal yet. Name it by a date: 2027-01-01.',
    },
    'current-sealing-key': {
      kind: 'text',
      value: 'KEY',
      description: 'The next key that every proxy has by now: from their next start it seals.',
    },
    'retired-sealing-key': {
      kind: 'list',
      value: 'KEY',
      description: 'Removes a key. What it sealed is refused from the next start of the proxies.',
    },
    'push-tls': {
      kind: 'text',
      value: 'NAME',
      description: 'Secret of the controllers with the certificate of their push listener.',
    },
    'push-authority': {
      kind: 'text',
      value: 'NAME',
      description: 'ConfigMap of the proxies with the certificates that they trust (ca.crt).',
    },
    'push-host': {
      kind: 'list',
      value: 'HOST',
      description: 'A name of the Service of the controllers, for their certificate.',
    },
    'push-rotation': {
      kind: 'text',
      value: 'TEXT',
      description: 'Makes a new certificate, unless it was made for this same text.',
    },
    'redis-secret': {
      kind: 'text',
      value: 'NAME',
      description: 'Secret of the proxies with a password for Redis, and its URL.',
    },
    'redis-address': {
      kind: 'text',
      value: 'HOST:PORT',
      description: 'Address of that Redis.',
    },
  },
};

/** Values of the flags of `gatehouse create-secrets`. What is undefined is left alone. */
export interface CreateSecretsFlags {
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
  readonly proxyNamespace: string | undefined;
  readonly sealingKeys:
    | {
        readonly secret: string;
        readonly next: string | undefined;
        readonly current: string | undefined;
        readonly retired: readonly string[];
      }
    | undefined;
  readonly pushTls:
    | {
        readonly secret: string;
        readonly authority: string;
        readonly hosts: readonly string[];
        readonly rotation: string | undefined;
      }
    | undefined;
  readonly redis: { readonly secret: string; readonly address: string } | undefined;
}

/** Reads the flags of `gatehouse create-secrets`. Throws `UsageError`. */
export function readCreateSecretsFlags(flags: Arguments): CreateSecretsFlags {
  const read = {
    kubeconfig: flags.text('kubeconfig'),
    namespace: flags.text('namespace'),
    proxyNamespace: flags.text('proxy-namespace'),
    sealingKeys: readSealingKeyFlags(flags),
    pushTls: readPushTlsFlags(flags),
    redis: readRedisSecretFlags(flags),
  };
  if (read.sealingKeys ?? read.pushTls ?? read.redis) return read;
  throw new UsageError('nothing to do: give --sealing-keys, --push-tls or --redis-secret');
}

function readSealingKeyFlags(flags: Arguments): CreateSecretsFlags['sealingKeys'] {
  const secret = flags.text('sealing-keys');
  if (secret === undefined) return undefined;
  return {
    secret,
    next: flags.text('next-sealing-key'),
    current: flags.text('current-sealing-key'),
    retired: flags.list('retired-sealing-key'),
  };
}

function readPushTlsFlags(flags: Arguments): CreateSecretsFlags['pushTls'] {
  const secret = flags.text('push-tls');
  if (secret === undefined) return undefined;
  const hosts = flags.list('push-host');
  if (hosts.length === 0) throw new UsageError('--push-tls needs --push-host');
  const authority = needed(flags, 'push-authority', '--push-tls');
  return { secret, authority, hosts, rotation: flags.text('push-rotation') };
}

function readRedisSecretFlags(flags: Arguments): CreateSecretsFlags['redis'] {
  const secret = flags.text('redis-secret');
  if (secret === undefined) return undefined;
  return { secret, address: needed(flags, 'redis-address', '--redis-secret') };
}

function needed(flags: Arguments, flag: string, by: string): string {
  const text = flags.text(flag);
  if (text === undefined) throw new UsageError(`${by} needs --${flag}`);
  return text;
}
