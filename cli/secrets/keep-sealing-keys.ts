import { randomBytes } from 'node:crypto';

import { SECRETS } from '../../controller/kubernetes/resource-types.ts';
import { changeSealingKeys, type SealingKeyWishes } from './sealing-key-changes.ts';
import {
  findStored,
  storedData,
  writeStored,
  type Place,
  type SecretsApi,
} from './stored-secret.ts';

const KEY_BYTES = 32;
const DATE_LENGTH = 'YYYY-MM-DD'.length;

/** Makes the Secret of the sealing keys, or changes its keys as wished. Resolves with what it did. */
export async function keepSealingKeySecret(
  api: SecretsApi,
  place: Place,
  wishes: SealingKeyWishes,
  now: Date,
): Promise<readonly string[]> {
  const before = await findStored(api, SECRETS, place);
  const stored = [...storedData(before)].map(
    ([name, text]) => [name, Buffer.from(text, 'base64')] as const,
  );
  const { keys, changes } = changeSealingKeys(new Map(stored), wishes, {
    today: now.toISOString().slice(0, DATE_LENGTH),
    makeKey: () => randomBytes(KEY_BYTES),
  });
  if (changes.length === 0) return [];
  const data = [...keys].map(([name, key]) => [name, key.toString('base64')] as const);
  await writeStored(api, { type: SECRETS, place }, before, { data: Object.fromEntries(data) });
  return changes;
}
