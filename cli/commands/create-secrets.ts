import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { keepPushCertificate } from '../secrets/keep-push-certificate.ts';
import { keepRedisSecret } from '../secrets/keep-redis-secret.ts';
import { keepSealingKeySecret } from '../secrets/keep-sealing-keys.ts';
import type { SecretsApi } from '../secrets/stored-secret.ts';
import { findCluster } from './controller/find-cluster.ts';
import {
  readCreateSecretsFlags,
  type CreateSecretsFlags,
} from './create-secrets/create-secrets-flags.ts';

/** Runs `gatehouse create-secrets`: makes what is missing, and changes what its flags ask for. */
export async function runCreateSecrets(
  flags: Arguments,
  { environment, stdout }: CommandStreams,
): Promise<number> {
  const options = readCreateSecretsFlags(flags);
  const { api, namespace } = await findCluster(options, environment);
  const report = (name: string, changes: readonly string[]): void => {
    for (const change of changes.length === 0 ? ['nothing to do'] : changes)
      stdout.write(`${name}: ${change}\n`);
  };
  await createSecrets({ ...options, namespace }, { api, now: new Date(), report });
  return 0;
}

/** What the command works with. */
interface Tools {
  readonly api: SecretsApi;
  readonly now: Date;
  readonly report: (name: string, changes: readonly string[]) => void;
}

async function createSecrets(
  {
    namespace,
    proxyNamespace = namespace,
    sealingKeys,
    pushTls,
    redis,
  }: CreateSecretsFlags & { readonly namespace: string },
  { api, now, report }: Tools,
): Promise<void> {
  const ofProxies = (name: string) => ({ namespace: proxyNamespace, name });
  if (sealingKeys !== undefined) {
    const place = ofProxies(sealingKeys.secret);
    report('sealing keys', await keepSealingKeySecret(api, place, sealingKeys, now));
  }
  if (pushTls !== undefined) {
    const secret = { namespace, name: pushTls.secret };
    const wish = { ...pushTls, secret, authority: ofProxies(pushTls.authority) };
    report('push certificate', await keepPushCertificate(api, wish, now));
  }
  if (redis !== undefined) {
    report('redis', await keepRedisSecret(api, ofProxies(redis.secret), redis.address));
  }
}
