/**
 * `issuerUrl` of the provider that stands for the ServiceAccounts of the cluster. In a snapshot it is the
 * `issuer` only where no API server was asked, as in checks of files.
 */
export const CLUSTER_ISSUER_URL = 'kubernetes:///';
