import type { GatewaySettings } from '../../crds/types.ts';
import {
  DEFAULT_ACCESS_LOG_FIELDS,
  DEFAULT_AUTHORIZE_LOG_FIELDS,
  type AccessLogField,
  type AuthorizeLogField,
} from '../../shared/snapshot/log-fields.ts';
import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';

/** Compiles which logs there are, and their fields. */
export function compileLogs({
  authorizeLogFields,
  accessLog,
}: GatewaySettings['spec']): Pick<CompiledSettings, 'authorizeLogFields' | 'accessLog'> {
  // The patterns of the definition admit exactly these names.
  const ofDecisions = authorizeLogFields as readonly AuthorizeLogField[] | undefined;
  const ofRequests = accessLog?.fields as readonly AccessLogField[] | undefined;
  return {
    authorizeLogFields: ofDecisions ?? DEFAULT_AUTHORIZE_LOG_FIELDS,
    ...(accessLog && {
      accessLog: {
        mode: accessLog.mode ?? 'None',
        fields: ofRequests ?? DEFAULT_ACCESS_LOG_FIELDS,
      },
    }),
  };
}
