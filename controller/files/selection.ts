import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { Resource } from '../validate/validate-resource.ts';
import type { Secret } from '../validate/secret.ts';
import type { Candidate } from './candidates.ts';

/** A valid resource that was picked, and where it came from. */
export interface Selected<R extends Resource> extends Pick<Candidate, 'file' | 'locate'> {
  readonly resource: R;
}

/** One version of each resource: what is compiled together. */
export interface Selection {
  /** By name, `Route team-a/files`. */
  readonly routes: ReadonlyMap<string, Selected<Route>>;
  /** Absent at a start at which they are not known: none is valid, or a file cannot be read. */
  readonly settings: Selected<GatewaySettings> | undefined;
  /** By name, `Secret default/corp`. */
  readonly secrets: ReadonlyMap<string, Selected<Secret>>;
}

/** What is selected before anything was read. */
export const EMPTY_SELECTION: Selection = {
  routes: new Map(),
  settings: undefined,
  secrets: new Map(),
};
