import type { Logger } from '../../shared/telemetry/logger.ts';
import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';
import { isPolicyKey } from '../../shared/snapshot/resource-key.ts';
import { formatPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { OnPublished, PublishedRevision } from '../push/publication.ts';

/** The events of the audit log of controllers by their stable names, as docs/kubernetes.md lists them. */
const EVENTS = {
  'configuration-published': 'configuration published',
  'configuration-taken-over': 'configuration taken over',
} as const;

/** The most resources that one record names. */
const MAX_NAMED = 50;

/** Options of a PublicationAudit. */
export interface PublicationAuditOptions {
  readonly logger: Logger;
  /** The name of this process, as in the Lease. */
  readonly identity: string;
  /** Returns the generation of the resource that a published key comes from; undefined if it is gone. */
  readonly generationOf: (key: string) => number | undefined;
}

/**
 * The audit log of a controller: who published which Routes and settings. It names resources and never their
 * content, which may be secret. Targets of Services are left out: they are not policy, and change all the time.
 */
export class PublicationAudit {
  readonly #options: PublicationAuditOptions;

  constructor(options: PublicationAuditOptions) {
    this.#options = options;
  }

  /** Records a change that is published. */
  readonly published: OnPublished = (revision, trace) => {
    const keys = [...revision.changes.keys()].filter(isPolicyKey);
    if (isFirst(revision)) this.#write('configuration-taken-over', { revision, keys, trace }, {});
    else if (keys.length > 0) {
      const named = keys.slice(0, MAX_NAMED).map((key) => this.#describe(key, revision));
      const detail = { changes: named };
      this.#write('configuration-published', { revision, keys, trace }, detail);
    }
  };

  #describe(key: string, { changes, has }: PublishedRevision): Readonly<Record<string, unknown>> {
    const { generationOf } = this.#options;
    if (!has(key)) return { key, change: 'removed' };
    const change = changes.get(key) === undefined ? 'added' : 'changed';
    return { key, change, generation: generationOf(key) };
  }

  #write(
    event: keyof typeof EVENTS,
    {
      revision: { position, version },
      keys,
      trace,
    }: {
      readonly revision: PublishedRevision;
      readonly keys: readonly string[];
      readonly trace: TraceContext | undefined;
    },
    detail: Readonly<Record<string, unknown>>,
  ): void {
    const { logger, identity } = this.#options;
    logger.info(EVENTS[event], {
      event,
      publisher: identity,
      position: formatPosition(position),
      version,
      resources: keys.length,
      ...detail,
      ...(trace && { 'trace-id': trace.traceId }),
    });
  }
}

/** The first snapshot of a leader holds everything, whether it changed or not. */
function isFirst({ position }: PublishedRevision): boolean {
  return position.sequence === 1;
}
