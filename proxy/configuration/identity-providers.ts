import type {
  CompiledIdentityProvider,
  CompiledRoute,
  SnapshotResource,
} from '../../shared/snapshot/snapshot.ts';
import type { Identity } from '../records/session.ts';
import type { ResourceChange } from './snapshot-changes.ts';

/** The identity providers of a configuration. Immutable. */
export class IdentityProviders {
  static readonly NONE = new IdentityProviders(new Map());

  readonly #byName: ReadonlyMap<string, CompiledIdentityProvider>;

  /** Where users sign in unless their route names another; undefined if there is none. */
  readonly signIn: CompiledIdentityProvider | undefined;

  private constructor(byName: ReadonlyMap<string, CompiledIdentityProvider>) {
    this.#byName = byName;
    this.signIn = [...byName.values()].find(({ signIn }) => signIn);
  }

  /** Returns every provider. */
  all(): readonly CompiledIdentityProvider[] {
    return [...this.#byName.values()];
  }

  /** Returns the provider with a name; without a name, the one with `signIn`. */
  find(name: string | undefined): CompiledIdentityProvider | undefined {
    return name === undefined ? this.signIn : this.#byName.get(name);
  }

  /**
   * Returns the provider of the users of a route. Undefined if the route names one that is not in the
   * configuration, or none and there is no default: then nobody is a user of the route.
   */
  ofRoute({
    identityProvider,
  }: Pick<CompiledRoute, 'identityProvider'>): CompiledIdentityProvider | undefined {
    return this.find(identityProvider);
  }

  /** Returns the provider of a user, which has the same name and issuer; undefined if there is none. */
  ofUser(identity: Pick<Identity, 'provider' | 'issuer'>): CompiledIdentityProvider | undefined {
    const provider = this.#byName.get(identity.provider);
    return isUserOf(provider, identity) ? provider : undefined;
  }

  /** Returns the providers after some resources of the snapshot have changed. */
  with(changes: readonly ResourceChange[]): IdentityProviders {
    const removed = changes.flatMap(({ before }) => providersIn(before));
    const added = changes.flatMap(({ after }) => providersIn(after));
    if (removed.length === 0 && added.length === 0) return this;
    const byName = new Map(this.#byName);
    for (const { name } of removed) byName.delete(name);
    for (const provider of added) byName.set(provider.name, provider);
    return new IdentityProviders(byName);
  }
}

function providersIn(resource: SnapshotResource | undefined): readonly CompiledIdentityProvider[] {
  return resource?.value.kind === 'identity-provider' ? [resource.value] : [];
}

/**
 * Returns whether a user is of a provider, by its name and its issuer: subjects are unique within one
 * issuer only, and the name may have been given to another.
 */
export function isUserOf(
  provider: CompiledIdentityProvider | undefined,
  identity: Pick<Identity, 'provider' | 'issuer'>,
): boolean {
  return provider?.name === identity.provider && provider.issuer === identity.issuer;
}
