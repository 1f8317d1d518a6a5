/** All paths of the dashboard that e-mails link to, with short identifiers. */
export const MAIL_LINKS = ['/sources/src_1', '/settings', '/endpoints/whk_1/recover', '/channels/chn_1'];
