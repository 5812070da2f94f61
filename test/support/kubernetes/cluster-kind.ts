import type { Cluster, ClusterCapabilities } from './cluster.ts';

/** A kind of API server that tests can run on. */
export interface PresentKind {
  readonly kind: Cluster['kind'];
  readonly capabilities: ClusterCapabilities;
  /** Starts the server early, so that the first `open` is quick. */
  readonly start: () => Promise<void>;
  /** Opens one, for one user at a time. */
  readonly open: () => Promise<Cluster>;
  /** Stops the server, if `start` started one. */
  readonly close: () => Promise<void>;
}

/** A kind of API server that cannot be started here. */
export interface AbsentKind {
  readonly kind: Cluster['kind'];
  /** The reason. */
  readonly absence: string;
}

export type ClusterKind = PresentKind | AbsentKind;
