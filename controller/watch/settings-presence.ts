import type { Logger } from '../../shared/telemetry/logger.ts';

export interface SettingsPresenceOptions {
  /** `namespace/name` of the settings that are looked for. */
  readonly settingsName: string;
  readonly gatewayClass: string;
  readonly logger: Logger;
}

/** Logs once that there are no settings, and once that there are then. */
export class SettingsPresence {
  readonly #options: SettingsPresenceOptions;
  #isMissing = false;

  constructor(options: SettingsPresenceOptions) {
    this.#options = options;
  }

  /** To be told when everything in the cluster is known, and whenever it changes. */
  see(isThere: boolean): void {
    if (isThere === !this.#isMissing) return;
    this.#isMissing = !isThere;
    const { settingsName, gatewayClass, logger } = this.#options;
    const fields = { settings: settingsName, class: gatewayClass };
    if (isThere) logger.info('settings found', fields);
    else logger.warn('no settings of this name and class, without which no route serves', fields);
  }
}
