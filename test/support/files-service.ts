import type { CompiledBackend, CompiledService } from '../../shared/snapshot/snapshot.ts';
import { aCompiledService } from './compiled-resources.ts';

/** The Service `files` as the one backend of a route. */
export const FILES: CompiledBackend = { service: 'team/files', port: 8080, weight: 1 };

/** A server on the loopback interface. */
interface Listening {
  readonly port: number;
}

/** Address of a target. */
export function addressOf({ port }: Listening): string {
  return `127.0.0.1:${String(port)}`;
}

/** The Service `files` with these targets. */
export function filesAt(...targets: readonly Listening[]): CompiledService {
  return aCompiledService('team/files', targets.map(addressOf));
}
