import type { Route } from '../../../crds/types.ts';
import { hashResource } from '../../../shared/snapshot/hash-resource.ts';
import { routeKey } from '../../../shared/snapshot/resource-key.ts';
import type { CompiledRoute, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { Problem, ProblemReason } from '../../validate/problem.ts';
import { parseAddress } from '../address.ts';
import { readBackendRefs, type BackendRef } from '../backends/backend-refs.ts';
import { resolveBackends, type ResolvedBackends } from '../backends/resolve-backends.ts';
import type { ServiceLookup } from '../backends/service-lookup.ts';
import { compileRoute } from '../compile-route.ts';
import { guarded } from '../guarded.ts';
import { andThen, type CompileResult } from '../compile-result.ts';
import { namespaceOf } from '../resources.ts';
import type { RouteContext } from '../route-context.ts';
import { claimsOf, type RouteClaims } from './claims.ts';

const NO_BACKENDS: ResolvedBackends = { backends: [], problems: [], notes: [] };

/** Faults of the settings and not of the route: it does not give up its host for them. */
const FAULTS_OF_SETTINGS: ReadonlySet<ProblemReason> = new Set([
  'SettingsNotFound',
  'IdentityProviderNotFound',
]);

/** One generation of a route, and what it compiles to. */
export class RouteGeneration {
  readonly number: number;
  /** As it came. */
  readonly spec: unknown;
  readonly refs: readonly BackendRef[];
  readonly #route: CompileResult<Route>;
  #compiled: CompileResult<CompiledRoute>;
  #resolved = NO_BACKENDS;
  #resource: SnapshotResource | undefined;
  #claims: RouteClaims | undefined;

  constructor(
    { number, spec }: { readonly number: number; readonly spec: unknown },
    route: CompileResult<Route>,
    context: RouteContext,
  ) {
    this.number = number;
    this.spec = spec;
    this.#route = route;
    this.refs = route.kind === 'made' ? refsOf(route.value) : [];
    this.#compiled = compile(route, context);
  }

  /** Compiles it anew, for another context. */
  compile(context: RouteContext): void {
    this.#compiled = compile(this.#route, context);
    this.#resource = undefined;
    this.#claims = undefined;
  }

  /** Resolves its references anew. Answers whether they lead elsewhere. */
  resolve(services: ServiceLookup): boolean {
    if (this.refs.length === 0 || this.#route.kind === 'invalid') return false;
    const before = JSON.stringify(this.#resolved);
    this.#resolved = resolveBackends(this.refs, namespaceOf(this.#route.value), services);
    const isChanged = JSON.stringify(this.#resolved) !== before;
    if (isChanged) this.#resource = undefined;
    return isChanged;
  }

  /** What it compiles to, but for its backends; undefined when it is not valid. */
  get compiled(): CompiledRoute | undefined {
    return this.#compiled.kind === 'made' ? this.#compiled.value : undefined;
  }

  get resolved(): ResolvedBackends {
    return this.#resolved;
  }

  /** Why it is not valid; empty when it is. */
  get problems(): readonly Problem[] {
    return this.#compiled.kind === 'invalid' ? this.#compiled.problems : [];
  }

  /** The host that it asks for; undefined when it is not valid, be it by a problem of its own. */
  get host(): string | undefined {
    if (this.#compiled.kind === 'made') return this.#compiled.value.host;
    if (this.#route.kind === 'invalid') return undefined;
    if (!this.problems.every(({ reason }) => FAULTS_OF_SETTINGS.has(reason))) return undefined;
    const address = parseAddress(this.#route.value.spec.from, 'spec.from');
    return address.kind === 'made' ? address.value.host : undefined;
  }

  /** What it asks for that others may ask for, too; undefined when it is not valid. */
  get claims(): RouteClaims | undefined {
    const { compiled } = this;
    this.#claims ??= compiled && claimsOf(compiled);
    return this.#claims;
  }

  get isMcpServer(): boolean {
    return this.#route.kind === 'made' && this.#route.value.spec.mcp !== undefined;
  }

  /** It in the snapshot; undefined when it is not valid. */
  get resource(): SnapshotResource | undefined {
    const { compiled } = this;
    if (compiled === undefined) return undefined;
    this.#resource ??= hashResource(routeKey(compiled.name), {
      ...compiled,
      ...(this.refs.length > 0 && { backends: this.#resolved.backends }),
    });
    return this.#resource;
  }
}

function compile(route: CompileResult<Route>, context: RouteContext): CompileResult<CompiledRoute> {
  return andThen(route, (valid) => guarded(() => compileRoute(valid, context)));
}

function refsOf(route: Route): readonly BackendRef[] {
  return readBackendRefs(route.spec, namespaceOf(route));
}
