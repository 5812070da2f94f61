import type { Route } from '../../crds/types.ts';

/**
 * Whether everyone may use a route without sign-in.
 *
 * The schema of Route does not allow public access together with a restriction. If both are there
 * nevertheless, the restriction wins.
 */
export function isPublic(spec: Route['spec']): boolean {
  const isRestricted =
    spec.policy !== undefined || spec.allowAnyAuthenticatedUser === true || spec.mcp !== undefined;
  return spec.allowPublicUnauthenticatedAccess === true && !isRestricted;
}
