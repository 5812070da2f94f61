import { randomBytes } from 'node:crypto';

import { SECRETS } from '../../controller/kubernetes/resource-types.ts';
import {
  findStored,
  storedData,
  writeStored,
  type Place,
  type SecretsApi,
} from './stored-secret.ts';

const PASSWORD_BYTES = 24;
const USER = 'gatehouse';
/** The least rights, as docs/redis.md has them, for keys that begin with the default prefix. */
const RIGHTS =
  '~gatehouse:* &gatehouse:* -@all +get +set +del +exists +incr +pttl +pexpire +pexpireat +pexpiretime +hset +hget +eval +evalsha +publish +subscribe +ping +info +scan +client|setname';

/**
 * Makes the Secret of a Redis at an address: its password, its configuration with that password, and
 * the URL for proxies. Resolves with what it did.
 */
export async function keepRedisSecret(
  api: SecretsApi,
  place: Place,
  address: string,
): Promise<readonly string[]> {
  const before = await findStored(api, SECRETS, place);
  const stored = storedData(before).get('password');
  const password =
    stored === undefined
      ? randomBytes(PASSWORD_BYTES).toString('base64url')
      : Buffer.from(stored, 'base64').toString();
  const wanted = {
    password,
    'redis.conf': `user default off\nuser ${USER} on >${password} ${RIGHTS}\n`,
    url: `redis://${USER}:${password}@${address}`,
  };
  const data = Object.fromEntries(
    Object.entries(wanted).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const isSame = Object.entries(data).every(([key, text]) => storedData(before).get(key) === text);
  if (isSame) return [];
  await writeStored(api, { type: SECRETS, place }, before, { data });
  return [stored === undefined ? 'made a password' : `changed the address to ${address}`];
}
