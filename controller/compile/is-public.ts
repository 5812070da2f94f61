import type { Route } from '../../crds/types.ts';

/**
 * Whether everybody may use a route without sign-in.
 *
 * The definition of Route refuses public access beside anything that restricts it. Where that was
 * not checked the restriction holds.
 */
export function isPublic(spec: Route['spec']): boolean {
  const isRestricted =
    spec.policy !== undefined || spec.allowAnyAuthenticatedUser === true || spec.mcp !== undefined;
  return spec.allowPublicUnauthenticatedAccess === true && !isRestricted;
}
