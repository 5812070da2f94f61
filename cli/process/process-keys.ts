import { sealingKeyId } from '../../proxy/crypto/sealer.ts';
import type { SealingKeys } from '../../proxy/crypto/sealing-key.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { CompiledSigningKeys } from '../../shared/snapshot/snapshot.ts';
import { deriveAssertionKeys } from '../../proxy/crypto/assertion-keys.ts';
import { keepSealingKeys, makeSealingKeys, readSealingKeys } from './sealing-keys.ts';

/** The keys of a process that are not part of its configuration. */
export interface ProcessKeys {
  readonly sealingKeys: SealingKeys;
  /** The keys that sign assertions if the settings name none. */
  readonly assertionKeys: CompiledSigningKeys;
}

/** The directories of sealing keys. */
export interface KeySources {
  readonly sealingKeysDirectory: string | undefined;
  readonly stateDirectory: string | undefined;
}

/** Reads the keys of a directory, or generates keys for this process only. */
export async function findProcessKeys(sources: KeySources, logger: Logger): Promise<ProcessKeys> {
  const sealingKeys = await findSealingKeys(sources, logger);
  const [seals, ...opens] = sealingKeys.map(sealingKeyId);
  logger.info('sealing keys', { seals, opens });
  return { sealingKeys, assertionKeys: deriveAssertionKeys(sealingKeys) };
}

async function findSealingKeys(
  { sealingKeysDirectory, stateDirectory }: KeySources,
  logger: Logger,
): Promise<SealingKeys> {
  if (sealingKeysDirectory !== undefined) return readSealingKeys(sealingKeysDirectory);
  if (stateDirectory !== undefined) return keepSealingKeys(stateDirectory, new Date());
  logger.warn('sealing keys are made for this process only', {
    consequence: 'tokens are invalid when it ends',
    remedy: '--state-dir or --sealing-keys-dir',
  });
  return makeSealingKeys();
}
