import { expect, test } from '@jest/globals';

import { metricsFormatFor } from '../../../../../shared/telemetry/metrics/metrics-format.ts';

test.each([
  { accept: undefined, format: 'prometheus' },
  { accept: '*/*', format: 'prometheus' },
  { accept: 'text/html', format: 'prometheus' },
  { accept: 'application/openmetrics-text', format: 'openmetrics' },
  { accept: 'Application/OpenMetrics-Text; version=1.0.0; charset=utf-8', format: 'openmetrics' },
  { accept: 'application/openmetrics-text;version=0.0.1', format: 'prometheus' },
  { accept: 'application/openmetrics-text;q=0', format: 'prometheus' },
  { accept: 'application/openmetrics-text;q=0.2,text/plain;version=0.0.4', format: 'prometheus' },
  {
    // Prometheus 3.
    accept:
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    format: 'openmetrics',
  },
])('a reader that accepts $accept gets $format', ({ accept, format }) => {
  expect(metricsFormatFor(accept)).toBe(format);
});
