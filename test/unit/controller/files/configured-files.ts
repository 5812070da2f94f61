import { readCandidates } from '../../../../controller/files/candidates.ts';
import type { ServedFiles } from '../../../../controller/files/file-compiler.ts';
import { FileConfiguration } from '../../../../controller/files/file-configuration.ts';
import { formatProblem } from '../../../../controller/files/located-problem.ts';
import { contentsOf } from './contents-of.ts';

/** Texts by file name. */
export type Files = Readonly<Record<string, string>>;

/** Valid settings. */
export const SETTINGS = `
apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: {name: gatehouse}
spec:
  cookie: {expiration: 1h}
  identityProviders:
    - {name: corp, issuerUrl: https://idp.example, clientId: x, clientSecretRef: {name: corp, key: secret}}
`;

/** The Secret that the settings refer to. */
export const SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: corp, labels: {gatehouse.dev/referable: 'true'}}
stringData: {secret: one}
`;

/** Settings and their Secret. */
export const BASE: Files = { 'settings.yaml': SETTINGS, 'secret.yaml': SECRET };

/** A configuration after an update. */
export interface State {
  readonly configuration: FileConfiguration;
  readonly served: ServedFiles | undefined;
  readonly problems: readonly string[];
}

/** Reads files, after those of an earlier state. */
export function accept(before: State | undefined, files: Files): State {
  const configuration =
    before?.configuration ?? new FileConfiguration({ devAllowLoopback: false, services: 'none' });
  const { served, problems } = configuration.update(readCandidates(contentsOf(files), []));
  return { configuration, served, problems: problems.map(formatProblem) };
}

/** Reads files without problems, for the first time. */
export function good(files: Files): State & { readonly served: ServedFiles } {
  const { served, ...state } = accept(undefined, { ...BASE, ...files });
  if (served === undefined || state.problems.length > 0) {
    throw new Error(state.problems.join('\n'));
  }
  return { served, ...state };
}

/** A Route that any signed-in user may use. */
export function route(name: string, host: string, more = '', to = 'http://up'): string {
  const access = more.startsWith('policy') ? '' : 'allowAnyAuthenticatedUser: true';
  return `
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: {name: ${name}}
spec:
  from: https://${host}
  to: ${to}
  ${access}
  ${more}
`;
}

/** A Route without sign-in. */
export function publicRoute(name: string, host: string): string {
  const access = 'allowAnyAuthenticatedUser: true';
  return route(name, host).replace(access, 'allowPublicUnauthenticatedAccess: true');
}

function routesOf(
  served: ServedFiles | undefined,
): readonly { readonly name: string; readonly host: string; readonly upstream: string }[] {
  const values = [...(served?.snapshot.resources.values() ?? [])].map(({ value }) => value);
  return values.flatMap((value) => (value.kind === 'route' ? [value] : []));
}

/** The upstreams that serve, by route. */
export function upstreams(served: ServedFiles | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(routesOf(served).map(({ name, upstream }) => [name, upstream]));
}

/** The hosts that serve. */
export function hosts(served: ServedFiles | undefined): readonly string[] {
  return routesOf(served).map(({ host }) => host);
}

/** The client secret that serves. */
export function clientSecret(served: ServedFiles | undefined): string | undefined {
  const provider = served?.snapshot.resources.get('identity-provider/corp')?.value;
  return provider?.kind === 'identity-provider' ? provider.clientSecret : undefined;
}
