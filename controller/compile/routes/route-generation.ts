import type { Route } from '../../../crds/types.ts';
import { hashResource } from '../../../shared/snapshot/hash-resource.ts';
import { routeKey } from '../../../shared/snapshot/resource-key.ts';
import type { CompiledRoute, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { Problem, ProblemReason } from '../../validate/problem.ts';
import { hostOfRoute } from '../address.ts';
import { readBackendRefs, type BackendRef } from '../backends/backend-refs.ts';
import { resolveBackends, type ResolvedBackends } from '../backends/resolve-backends.ts';
import type { ServiceLookup } from '../backends/service-lookup.ts';
import type { CertificateValidity } from '../certificates/certificate-validity.ts';
import { andThen, type CompileResult } from '../compile-result.ts';
import { guarded } from '../guarded.ts';
import { namespaceOf } from '../resources.ts';
import { claimsOf, type RouteClaims } from './claims.ts';
import type { ReferableSecrets } from './client-secret.ts';
import { RouteSecrets } from './route-secrets.ts';

/** Compiles a valid route under the present settings. */
export type CompileRoute = (route: Route) => CompileResult<CompiledRoute>;

const NO_BACKENDS: ResolvedBackends = { backends: [], problems: [], notes: [] };

/** Problems of the settings and not of the route, which keeps its host despite them. */
const SETTINGS_REASONS: ReadonlySet<ProblemReason> = new Set([
  'SettingsNotFound',
  'IdentityProviderNotFound',
]);

type State =
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** Only the settings prevent it from serving. */
  | { readonly kind: 'waiting'; readonly problems: readonly Problem[]; readonly host: string }
  | { readonly kind: 'compiled'; readonly route: CompiledRoute; readonly claims: RouteClaims };

/** One generation of a route, and its compiled form. */
export class RouteGeneration {
  readonly number: number;
  /** The spec as it was stored. */
  readonly spec: unknown;
  readonly refs: readonly BackendRef[];
  readonly #route: CompileResult<Route>;
  #state: State;
  /** Undefined if the spec is invalid. */
  readonly secrets: RouteSecrets | undefined;
  #resolved = NO_BACKENDS;
  #resource: SnapshotResource | undefined;

  constructor(
    { number, spec }: { readonly number: number; readonly spec: unknown },
    route: CompileResult<Route>,
    compileRoute: CompileRoute,
  ) {
    this.number = number;
    this.spec = spec;
    this.#route = route;
    this.refs = route.kind === 'made' ? refsOf(route.value) : [];
    this.secrets = route.kind === 'made' ? new RouteSecrets(route.value) : undefined;
    this.#state = stateOf(route, compileRoute);
  }

  /** Compiles it again, under changed settings. */
  compile(compileRoute: CompileRoute): void {
    this.#state = stateOf(this.#route, compileRoute);
    this.#resource = undefined;
  }

  /** Resolves its references again. Returns whether the result changed. */
  resolve(services: ServiceLookup): boolean {
    if (this.refs.length === 0 || this.#route.kind === 'invalid') return false;
    const before = JSON.stringify(this.#resolved);
    this.#resolved = resolveBackends(this.refs, namespaceOf(this.#route.value), services);
    const isChanged = JSON.stringify(this.#resolved) !== before;
    if (isChanged) this.#resource = undefined;
    return isChanged;
  }

  /** Resolves its references to Secrets again. Returns whether the result changed. */
  resolveSecrets(secrets: ReferableSecrets): boolean {
    const isChanged = this.secrets?.resolve(secrets) ?? false;
    if (isChanged) this.#resource = undefined;
    return isChanged;
  }

  /** The compiled route without its backends and Secrets; undefined if it is not valid. */
  get compiled(): CompiledRoute | undefined {
    return this.#state.kind === 'compiled' ? this.#state.route : undefined;
  }

  get resolved(): ResolvedBackends {
    return this.#resolved;
  }

  /** The certificates that serve its host and that it names. */
  get certificates(): readonly CertificateValidity[] {
    return this.secrets?.certificates ?? [];
  }

  /** Unusable references. The route serves all the same, as far as it can without them. */
  get referenceProblems(): readonly Problem[] {
    return [...this.#resolved.problems, ...(this.secrets?.problems ?? [])];
  }

  /** The reasons why it is not valid; empty if it is valid. */
  get problems(): readonly Problem[] {
    return this.#state.kind === 'compiled' ? [] : this.#state.problems;
  }

  /** The host that it asks for; undefined if its spec is invalid. */
  get host(): string | undefined {
    switch (this.#state.kind) {
      case 'invalid':
        return undefined;
      case 'waiting':
        return this.#state.host;
      case 'compiled':
        return this.#state.route.host;
    }
  }

  /** Its claims; undefined if it is not valid. */
  get claims(): RouteClaims | undefined {
    return this.#state.kind === 'compiled' ? this.#state.claims : undefined;
  }

  /** Its role in MCP; empty for other routes, and if the spec is invalid. */
  get mcpRole(): 'server' | 'client' | '' {
    const { mcp } = this.#route.kind === 'made' ? this.#route.value.spec : {};
    if (mcp === undefined) return '';
    return mcp.server === undefined ? 'client' : 'server';
  }

  /** Its snapshot resource; undefined if it is not valid. */
  get resource(): SnapshotResource | undefined {
    const { compiled } = this;
    if (compiled === undefined) return undefined;
    this.#resource ??= hashResource(routeKey(compiled.name), {
      ...(this.secrets?.addTo(compiled) ?? compiled),
      ...(this.refs.length > 0 && { backends: this.#resolved.backends }),
    });
    return this.#resource;
  }
}

function stateOf(route: CompileResult<Route>, compileRoute: CompileRoute): State {
  const compiled = andThen(route, (valid) => guarded(() => compileRoute(valid)));
  if (compiled.kind === 'made') {
    return { kind: 'compiled', route: compiled.value, claims: claimsOf(compiled.value) };
  }
  const { problems } = compiled;
  const isWaiting = problems.every(({ reason }) => SETTINGS_REASONS.has(reason));
  const host = isWaiting && route.kind === 'made' ? hostOfRoute(route.value) : undefined;
  return host === undefined ? { kind: 'invalid', problems } : { kind: 'waiting', problems, host };
}

function refsOf(route: Route): readonly BackendRef[] {
  return readBackendRefs(route.spec, namespaceOf(route));
}
