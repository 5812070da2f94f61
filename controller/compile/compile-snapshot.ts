import type { GatewaySettings, Route } from '../../crds/types.ts';
import { hashResource, snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Problem } from '../validate/problem.ts';
import { sortProblems } from '../validate/sort-problems.ts';
import { compileRoute } from './compile-route.ts';
import { compileSettings, type SettingsParts } from './compile-settings.ts';
import { findConflicts, type Candidate } from './find-conflicts.ts';
import type { Finding, Outcome } from './outcome.ts';
import { nameOf, type CompileOptions, type CompileResult, type Resources } from './resources.ts';
import type { RouteContext, SignIn } from './route-context.ts';

/** What holds without GatewaySettings: the defaults, and no sign-in. */
const NO_SETTINGS: GatewaySettings = {
  apiVersion: 'gatehouse.dev/v1alpha1',
  kind: 'GatewaySettings',
  metadata: { name: 'gatehouse', namespace: 'default' },
  spec: {},
};

/**
 * Compiles resources to a snapshot. Pure: equal input, equal output, whatever its order.
 *
 * A resource that is not valid is left out and named in problems; it never blocks another one.
 */
export function compileSnapshot(
  { routes, settings, secrets }: Resources,
  options: CompileOptions,
): CompileResult {
  const outcome = compileSettings(settings ?? NO_SETTINGS, secrets, options);
  const parts = outcome.kind === 'made' ? outcome.value : defaultParts(options);
  const context: RouteContext = {
    devAllowLoopback: options.devAllowLoopback,
    authenticateAddress: parts.authenticateAddress,
    signIn: signInOf(settings, outcome),
  };
  const candidates: Candidate[] = [];
  const problems: Problem[] = [...problemsOf(settings ?? NO_SETTINGS, outcome)];
  for (const route of routes) {
    const compiled = compileRoute(route, context);
    problems.push(...problemsOf(route, compiled));
    if (compiled.kind === 'made') candidates.push({ route, compiled: compiled.value });
  }
  const conflicts = findConflicts(candidates);
  return {
    snapshot: snapshotOf([...settingsResources(parts), ...routeResources(conflicts.winners)]),
    problems: sortProblems([...problems, ...conflicts.problems]),
    acceptedRoutes: new Set(conflicts.winners.map(({ compiled }) => compiled.name)),
    settingsAccepted: outcome.kind === 'made',
  };
}

function defaultParts(options: CompileOptions): SettingsParts {
  const outcome = compileSettings(NO_SETTINGS, new Map(), options);
  if (outcome.kind === 'refused') throw new Error('the default settings are valid');
  return outcome.value;
}

function signInOf(settings: GatewaySettings | undefined, outcome: Outcome<SettingsParts>): SignIn {
  const unavailable = (reason: Problem['reason'], message: string): SignIn => ({
    kind: 'unavailable',
    reason,
    message: `nobody can sign in: ${message}`,
  });
  if (settings === undefined) return unavailable('SettingsNotFound', 'there is no GatewaySettings');
  const name = `GatewaySettings ${nameOf(settings)}`;
  if (outcome.kind === 'refused') return unavailable('SettingsNotFound', `${name} is not valid`);
  if (outcome.value.identityProvider !== undefined) return { kind: 'available' };
  return unavailable('IdentityProviderNotFound', `${name} names no identity provider`);
}

function problemsOf(
  resource: Route | GatewaySettings,
  outcome: Outcome<unknown>,
): readonly Problem[] {
  if (outcome.kind === 'made') return [];
  const name = `${resource.kind} ${nameOf(resource)}`;
  return outcome.findings.map((finding: Finding) => ({ resource: name, ...finding }));
}

function settingsResources(parts: SettingsParts): readonly SnapshotResource[] {
  const { settings, identityProvider, signingKeys } = parts;
  return [
    hashResource('settings', settings),
    ...(signingKeys ? [hashResource('signing-keys', signingKeys)] : []),
    ...(identityProvider
      ? [hashResource(`identity-provider/${identityProvider.name}`, identityProvider)]
      : []),
  ];
}

function routeResources(winners: readonly Candidate[]): readonly SnapshotResource[] {
  return winners.map(({ compiled }) => hashResource(`route/${compiled.name}`, compiled));
}
