import type { Cluster, ClusterCapabilities } from './cluster.ts';

/** A kind of API server that tests can run on. */
export interface PresentKind {
  readonly kind: Cluster['kind'];
  readonly capabilities: ClusterCapabilities;
  /** Makes the first `open` quick. */
  readonly start: () => Promise<void>;
  /** Opens one, for one user at a time. */
  readonly open: () => Promise<Cluster>;
  /** Ends what `start` started, if it did. */
  readonly close: () => Promise<void>;
}

/** A kind of API server that is not there. */
export interface AbsentKind {
  readonly kind: Cluster['kind'];
  /** Why not. */
  readonly absence: string;
}

export type ClusterKind = PresentKind | AbsentKind;
