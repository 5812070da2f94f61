import type {
  CompiledResource,
  CompiledSettings,
  CompiledSigningKeys,
  Snapshot,
} from '../../shared/snapshot/snapshot.ts';
import { CertificateTable } from './certificate-table.ts';
import type { Configuration } from './configuration.ts';
import { IdentityProviders } from './identity-providers.ts';
import { clientAddressOf } from './make-resource-ready.ts';
import { RoutingTable } from './routing-table.ts';
import { NO_SERVICES, servicesAfter } from './service-targets.ts';
import type { ResourceChange } from './snapshot-changes.ts';
import type { Steps } from './steps.ts';

/**
 * Builds the configuration of a snapshot in steps, at the cost of the changes. Throws if a part of the
 * snapshot is invalid. The configuration `before` is not changed.
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
    identityProviders: (before?.identityProviders ?? IdentityProviders.NONE).with(changes),
    routes: yield* (before?.routes ?? RoutingTable.EMPTY).with(changes),
    services: servicesAfter(before?.services ?? NO_SERVICES, changes),
    certificates: (before?.certificates ?? CertificateTable.EMPTY).with(
      changes,
      settings.defaultCertificate,
    ),
    clientAddressOf: clientAddressOf(settings),
  };
}

/** The resources that a snapshot has at most once. */
interface SingleResources {
  settings: CompiledSettings | undefined;
  signingKeys: CompiledSigningKeys | undefined;
}

function singleResources(
  before: Configuration | undefined,
  changes: readonly ResourceChange[],
): SingleResources {
  const singles: SingleResources = {
    settings: before?.settings,
    signingKeys: before?.signingKeys,
  };
  for (const { before: removed } of changes)
    if (removed !== undefined) remove(singles, removed.value);
  for (const { after: added } of changes) if (added !== undefined) put(singles, added.value);
  return singles;
}

function remove(singles: SingleResources, { kind }: CompiledResource): void {
  if (kind === 'settings') singles.settings = undefined;
  if (kind === 'signing-keys') singles.signingKeys = undefined;
}

function put(singles: SingleResources, value: CompiledResource): void {
  if (value.kind === 'settings') singles.settings = value;
  if (value.kind === 'signing-keys') singles.signingKeys = value;
}
