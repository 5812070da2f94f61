import type { ProxyReport, RolloutState, Publication } from '../../controller/push/publication.ts';
import type { UpstreamAuthState } from '../../controller/push/publication.ts';
import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';

/** A publication whose proxies are controlled by the test. Everything is programmed by default. */
export class FakePublication implements Publication {
  position: SnapshotPosition = { epoch: 1, sequence: 1 };
  version = 'version-1';
  publishedAt: number | undefined = Date.UTC(2026, 0, 1);
  proxies: readonly ProxyReport[] = [];
  readonly routesBefore = 0;
  everything: RolloutState | undefined = { kind: 'programmed' };
  readonly some = new Map<string, RolloutState | undefined>();

  readonly upstreams = new Map<string, UpstreamAuthState>();

  publish(): void {
    this.position = { ...this.position, sequence: this.position.sequence + 1 };
  }

  find(): undefined {
    return undefined;
  }

  upstreamAuth(key: string): UpstreamAuthState | undefined {
    return this.upstreams.get(key);
  }

  rolloutState(key: string): RolloutState | undefined {
    return this.some.has(key) ? this.some.get(key) : this.everything;
  }
}
