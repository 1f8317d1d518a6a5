import type { channels as english } from './en-channels.ts';

/** Was die Seiten der Kanäle sagen, auf Deutsch. */
export const channels: typeof english = {
  title: 'Kanäle',
  about:
    'Wo Konversationen stattfinden. Ein Kanal der Art http erhält, was Mitarbeiter und der Assistent sagen. Legen Sie Kanäle über die API an und löschen Sie sie dort.',
  none: 'Es gibt keine Kanäle',
  noneAbout:
    'Legen Sie über die API einen an und nennen Sie ihn in den Konversationen, die dort stattfinden.',
  back: 'Alle Kanäle',
  gone: 'Diesen Kanal gibt es nicht, oder er wurde gelöscht',
  kinds: {
    http: 'Nachrichten werden an die URL gesendet',
    web_widget: 'Browser lesen die Nachrichten',
  },
  id: 'Kanal-ID',
  test: 'Test senden',
  disabled: 'Abgeschaltet: Nachrichten werden nicht gesendet',
  disabledAbout:
    'Zehn Zustellungen in Folge schlugen mit allen Versuchen fehl, oder der Betreiber hat den Kanal abgeschaltet. Beheben Sie den Fehler beim Empfänger und setzen Sie den Kanal dann fort.',
  paused: 'Pausiert: Nachrichten werden nicht gesendet',
  pauseTitle: 'Diesen Kanal pausieren?',
  pauseAbout:
    'Bis Sie ihn fortsetzen, werden Nachrichten von Mitarbeitern und vom Assistenten übersprungen. Das zählt nicht als Fehler, und ein laufender Auftrag zum erneuten Senden hält an. Beim Fortsetzen wird das Übersprungene gesendet.',
  resumeAbout:
    'Der Kanal wird mit demselben Schlüssel wieder aktiv. Nachrichten, die nicht ankamen, werden erneut gesendet, die ältesten zuerst.',
  resumed: 'Fortgesetzt: Der Kanal erhält wieder neue Nachrichten',
  resumedAbout: 'Was nicht ankam, sendet ein Auftrag erneut, der 90 Sekunden nach dem Fortsetzen beginnt.',
};
