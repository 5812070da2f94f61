import type {
  CompiledIdentityProvider,
  CompiledResource,
  CompiledSettings,
  CompiledSigningKeys,
  Snapshot,
} from '../../shared/snapshot/snapshot.ts';
import type { Configuration } from './configuration.ts';
import { clientAddressOf } from './ready-resource.ts';
import { RoutingTable } from './routing-table.ts';
import { NO_SERVICES, servicesAfter } from './service-targets.ts';
import type { ResourceChange } from './snapshot-changes.ts';
import type { Steps } from './steps.ts';

/**
 * Makes a snapshot ready to serve from, in steps, at the cost of what changed since the one before.
 * Throws when a part of it is not understood, and leaves the configuration before as it was.
 */
export function* configurationSteps(
  before: Configuration | undefined,
  snapshot: Snapshot,
  changes: readonly ResourceChange[],
): Steps<Configuration> {
  const singles = singleResources(before, changes);
  const { settings } = singles;
  if (settings === undefined) throw new Error('the snapshot has no settings');
  return {
    ...singles,
    settings,
    version: snapshot.version,
    routes: yield* (before?.routes ?? RoutingTable.EMPTY).with(changes),
    services: servicesAfter(before?.services ?? NO_SERVICES, changes),
    clientAddressOf: clientAddressOf(settings),
  };
}

/** What a snapshot has one of, or none. */
interface SingleResources {
  settings: CompiledSettings | undefined;
  identityProvider: CompiledIdentityProvider | undefined;
  signingKeys: CompiledSigningKeys | undefined;
}

function singleResources(
  before: Configuration | undefined,
  changes: readonly ResourceChange[],
): SingleResources {
  const singles: SingleResources = {
    settings: before?.settings,
    identityProvider: before?.identityProvider,
    signingKeys: before?.signingKeys,
  };
  // What goes before what comes: an identity provider may come under another name.
  for (const { before: gone } of changes) if (gone !== undefined) remove(singles, gone.value);
  for (const { after: come } of changes) if (come !== undefined) put(singles, come.value);
  return singles;
}

function remove(singles: SingleResources, { kind }: CompiledResource): void {
  if (kind === 'settings') singles.settings = undefined;
  if (kind === 'identity-provider') singles.identityProvider = undefined;
  if (kind === 'signing-keys') singles.signingKeys = undefined;
}

function put(singles: SingleResources, value: CompiledResource): void {
  if (value.kind === 'settings') singles.settings = value;
  if (value.kind === 'identity-provider') singles.identityProvider = value;
  if (value.kind === 'signing-keys') singles.signingKeys = value;
}
