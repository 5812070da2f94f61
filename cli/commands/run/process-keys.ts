import type { Logger } from '../../../shared/process/logger.ts';
import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';
import { keepAssertionKey, makeAssertionKey } from './assertion-key.ts';
import {
  keepSealingKeys,
  makeSealingKeys,
  readSealingKeys,
  type SealingKeys,
} from './sealing-keys.ts';

/** The keys that belong to a process and not to its configuration. */
export interface ProcessKeys {
  readonly sealingKeys: SealingKeys;
  /** Signs assertions where the settings name no keys. */
  readonly assertionKey: CompiledSigningKeys;
}

export interface KeySources {
  readonly sealingKeysDirectory: string | undefined;
  readonly stateDirectory: string | undefined;
}

/** Finds the keys where they are kept; else makes them for as long as the process lives. */
export async function findProcessKeys(sources: KeySources, logger: Logger): Promise<ProcessKeys> {
  return {
    sealingKeys: await findSealingKeys(sources, logger),
    assertionKey: await findAssertionKey(sources),
  };
}

async function findSealingKeys(
  { sealingKeysDirectory, stateDirectory }: KeySources,
  logger: Logger,
): Promise<SealingKeys> {
  if (sealingKeysDirectory !== undefined) return readSealingKeys(sealingKeysDirectory);
  if (stateDirectory !== undefined) return keepSealingKeys(stateDirectory, new Date());
  logger.warn('sealing keys are made for this process only', {
    consequence: 'tokens end with it',
    remedy: '--state-dir or --sealing-keys-dir',
  });
  return makeSealingKeys();
}

async function findAssertionKey({ stateDirectory }: KeySources): Promise<CompiledSigningKeys> {
  return stateDirectory === undefined ? makeAssertionKey() : keepAssertionKey(stateDirectory);
}
