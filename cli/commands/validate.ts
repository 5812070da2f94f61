import { CLUSTER_ISSUER_URL } from '../../shared/snapshot/cluster-issuer-url.ts';
import { ENVIRONMENT_PLACE, formatProblem } from '../../controller/files/located-problem.ts';
import type { Route } from '../../crds/types.ts';
import type { Loaded } from '../../controller/files/load-configuration.ts';
import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { load } from '../process/load.ts';
import { notesOnCertificates } from './validate/notes-on-certificates.ts';
import { notesOnTracing } from './validate/notes-on-tracing.ts';

/** Runs `gatehouse validate`: prints all problems of a configuration. */
export async function runValidate(flags: Arguments, streams: CommandStreams): Promise<number> {
  const { environment, stdout } = streams;
  const path = flags.text('file') ?? '';
  const devAllowLoopback = flags.isOn('dev-allow-loopback');
  const loaded = await load({ path, environment, devAllowLoopback, assumesServices: true });
  const { problems } = loaded;
  const lines = [
    ...problems.map(formatProblem),
    ...[
      ...notes(loaded),
      ...notesOnCertificates(loaded, new Date()),
      ...notesOnTracing(loaded, environment),
    ].map((note) => `${path}: ${note}`),
    `${path}: ${summary(loaded)}`,
  ];
  stdout.write(lines.map((line) => `${line}\n`).join(''));
  return problems.length > 0 || isEmpty(loaded) ? 1 : 0;
}

function isEmpty({ contents }: Loaded): boolean {
  return contents.files.every(({ parsed }) => parsed.documents.length === 0);
}

/** Returns notes about what was not checked or is not covered, and what may be a mistake. */
function notes(loaded: Loaded): readonly string[] {
  return [
    ...notesOnBackends(loaded),
    ...notesOnClusterIssuer(loaded),
    ...notesOnAccess(loaded),
    ...notesOnSubPaths(loaded),
    ...notesOnConsent(loaded),
    ...notesOnDiscovery(loaded),
  ];
}

/** A Route without a policy is valid, and denies every request. */
function notesOnAccess({ candidates }: Loaded): readonly string[] {
  return candidates.resources.flatMap(({ resource, inItsWords }) => {
    if (resource?.kind !== 'Route' || permitsSomebody(resource.spec)) return [];
    const { namespace = '', name } = resource.metadata;
    const missing =
      'policy.allow, nor allowAnyAuthenticatedUser or allowPublicUnauthenticatedAccess';
    return [`note: Route ${namespace}/${name} permits nobody: it has no ${inItsWords(missing)}`];
  });
}

function permitsSomebody(spec: Route['spec']): boolean {
  const { policy, allowAnyAuthenticatedUser, allowPublicUnauthenticatedAccess } = spec;
  const isOpen = allowAnyAuthenticatedUser === true || allowPublicUnauthenticatedAccess === true;
  return isOpen || policy?.allow !== undefined;
}

/** Operators who rely on a policy about tools have to know what it does not cover. */
function notesOnSubPaths({ served }: Loaded): readonly string[] {
  return [...(served?.uninspectedPaths ?? [])].map(
    ([name, paths]) =>
      `note: Route ${name}: requests to ${paths.join(', ')} are not inspected, and mcp_tool does not cover them`,
  );
}

/** The scripts of web routes on the host of a consent page, or of a callback, have its origin. */
function notesOnConsent({ served, candidates: { resources } }: Loaded): readonly string[] {
  const settings = resources.find(({ kind }) => kind === 'GatewaySettings');
  const field = settings?.inItsWords('authenticateUrl') ?? 'authenticateUrl';
  return (served?.exposedConsents ?? []).map(
    (name) =>
      `note: Route ${name}: web routes have the same host, so their scripts have the origin of the consent page, or of the callback of users who connect; use a host of its own, or, if no user connects there, set ${field}`,
  );
}

/** Settings may be written by others, so that such a Route is valid. */
function notesOnDiscovery({ served, candidates: { resources } }: Loaded): readonly string[] {
  const settings = resources.find(({ kind }) => kind === 'GatewaySettings');
  const setting = 'mcpAllowedAsMetadataDomains';
  const field = settings?.inItsWords(setting) ?? setting;
  return [...(served?.unlistedUpstreams ?? [])].map(
    ([name, host]) =>
      `note: Route ${name}: nobody can connect to its upstream, because ${field} does not list ${host}`,
  );
}

function notesOnBackends({ candidates }: Loaded): readonly string[] {
  const referring = candidates.resources.filter(
    ({ resource }) => resource?.kind === 'Route' && resource.spec.backendRefs !== undefined,
  ).length;
  if (referring === 0) return [];
  return [
    `note: backendRefs of ${count(referring, 'Route')} not checked: Services exist only in Kubernetes`,
  ];
}

/** Whether its audiences are those of the API server is known in the cluster only. */
function notesOnClusterIssuer({ candidates }: Loaded): readonly string[] {
  const providers = candidates.resources.flatMap(({ resource }) =>
    resource?.kind === 'GatewaySettings' ? (resource.spec.identityProviders ?? []) : [],
  );
  const provider = providers.find(({ issuerUrl }) => issuerUrl === CLUSTER_ISSUER_URL);
  if (provider === undefined) return [];
  return [
    `note: identity provider ${provider.name} not checked: ServiceAccounts exist only in Kubernetes`,
  ];
}

function summary(loaded: Loaded): string {
  const { problems, candidates } = loaded;
  if (problems.length > 0) return count(problems.length, 'problem');
  if (isEmpty(loaded)) return 'nothing to validate';
  const written = candidates.resources.filter(({ file }) => file !== ENVIRONMENT_PLACE);
  const found = (['Route', 'Secret', 'ConfigMap', 'GatewaySettings'] as const).flatMap((kind) => {
    const number = written.filter((candidate) => candidate.kind === kind).length;
    if (number === 0) return [];
    return [kind === 'GatewaySettings' ? kind : count(number, kind)];
  });
  return `no problems (${found.join(', ')})`;
}

function count(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}
