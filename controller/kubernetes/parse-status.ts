import { isRecord } from '../../shared/runtime/is-record.ts';
import type { RouteStatus, SettingsStatus } from './stored-resources.ts';

type Condition = NonNullable<RouteStatus['conditions']>[number];
type Address = NonNullable<SettingsStatus['addresses']>[number];
type Members = Readonly<Record<string, unknown>>;

/**
 * Parses the status of a Route; undefined if it has none.
 *
 * Members that do not match the definition are left out: another controller, or one of another
 * version, may have written them.
 */
export function parseRouteStatus(value: unknown): RouteStatus | undefined {
  if (!isRecord(value)) return undefined;
  const { mcpRole, url, gatewayClassName, programmedGeneration, configHash } = value;
  return {
    ...parseCommon(value),
    ...(typeof mcpRole === 'string' && { mcpRole }),
    ...(typeof url === 'string' && { url }),
    ...(typeof gatewayClassName === 'string' && { gatewayClassName }),
    ...(typeof programmedGeneration === 'number' && { programmedGeneration }),
    ...(typeof configHash === 'string' && { configHash }),
  };
}

/** Parses the status of GatewaySettings like `parseRouteStatus`. */
export function parseSettingsStatus(value: unknown): SettingsStatus | undefined {
  if (!isRecord(value)) return undefined;
  const { addresses, attachedRoutes } = value;
  const proxies = parseProxies(value['proxies']);
  const snapshot = parseSnapshot(value['snapshot']);
  return {
    ...parseCommon(value),
    ...(Array.isArray(addresses) && { addresses: addresses.filter(isAddress) }),
    ...(typeof attachedRoutes === 'number' && { attachedRoutes }),
    ...(proxies && { proxies }),
    ...(snapshot && { snapshot }),
  };
}

function parseCommon(
  status: Members,
): Pick<RouteStatus, 'observedGeneration' | 'conditions' | 'certificates' | 'served'> {
  const { observedGeneration, conditions, certificates } = status;
  const served = parseServed(status['served']);
  return {
    ...(typeof observedGeneration === 'number' && { observedGeneration }),
    ...(Array.isArray(conditions) && { conditions: conditions.filter(isCondition) }),
    ...(Array.isArray(certificates) && { certificates: certificates.flatMap(parseCertificate) }),
    ...(served && { served }),
  };
}

function parseCertificate(value: unknown): NonNullable<RouteStatus['certificates']> {
  if (!isRecord(value)) return [];
  const { secret, notAfter } = value;
  return typeof secret === 'string' && typeof notAfter === 'string' ? [{ secret, notAfter }] : [];
}

function parseServed(value: unknown): RouteStatus['served'] {
  if (!isRecord(value)) return undefined;
  const { generation, spec } = value;
  return typeof generation === 'number' && isRecord(spec) ? { generation, spec } : undefined;
}

function parseProxies(value: unknown): SettingsStatus['proxies'] {
  if (!isRecord(value)) return undefined;
  const { connected, ready, synced, rejected } = value;
  if (typeof connected !== 'number' || typeof ready !== 'number') return undefined;
  if (typeof synced !== 'number' || typeof rejected !== 'number') return undefined;
  return { connected, ready, synced, rejected };
}

function parseSnapshot(value: unknown): SettingsStatus['snapshot'] {
  if (!isRecord(value)) return undefined;
  const { revision, hash, time } = value;
  if (typeof revision !== 'string' || typeof hash !== 'string') return undefined;
  return typeof time === 'string' ? { revision, hash, time } : undefined;
}

function isAddress(value: unknown): value is Address {
  if (!isRecord(value) || typeof value['value'] !== 'string') return false;
  return value['type'] === 'IPAddress' || value['type'] === 'Hostname';
}

function isCondition(value: unknown): value is Condition {
  if (!isRecord(value)) return false;
  const { type, status, reason, message, lastTransitionTime, observedGeneration } = value;
  const isStatus = status === 'True' || status === 'False' || status === 'Unknown';
  const texts = [type, reason, message, lastTransitionTime];
  const isGeneration = observedGeneration === undefined || typeof observedGeneration === 'number';
  return isStatus && isGeneration && texts.every((text) => typeof text === 'string');
}
