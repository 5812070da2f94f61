import type { ScrapedMetric } from '../metrics/parse-metrics.ts';
import { scrapeProcess } from '../metrics/scrape.ts';
import { Member } from './member.ts';
import { portOf } from './proxy-member.ts';

/** A `gatehouse controller`. */
export class ControllerMember extends Member {
  /** Its identity in the Lease; undefined before it first led. */
  get identity(): string | undefined {
    const { identity } = this.log.findLast(isAcquisition) ?? {};
    return typeof identity === 'string' ? identity : undefined;
  }

  /** The epochs that it acquired, in all of its runs. */
  get epochs(): readonly number[] {
    return this.log.filter(isAcquisition).map(({ epoch }) => Number(epoch));
  }

  /** Returns the metrics of its admin port. */
  async metrics(): Promise<ReadonlyMap<string, ScrapedMetric>> {
    const { admin } = await this.logged('listening');
    return (await scrapeProcess(admin)).metrics;
  }

  /** Address that proxies connect to. */
  async pushPort(): Promise<number> {
    const { addresses } = await this.logged('listening');
    return portOf(Array.isArray(addresses) ? addresses[0] : undefined);
  }
}

function isAcquisition({ message }: Readonly<Record<string, unknown>>): boolean {
  return message === 'leadership acquired';
}
