// The files of the page, one behind the other, each with a zero byte at its end: text has none. As literals of Swift they took
// the compiler most of its time for the service.
#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char content[] = {
#embed "../../Service/Server/Page/Assets/index.html" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/icon.svg" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/pawl.webmanifest" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/foundation.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/layout.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/header.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/filters.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/tools.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/overlays.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/narrow.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/list.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/detail.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/dialogs.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/choosing.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/popup.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/rules.css" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/actions.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/adding.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/addresses.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/asking.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/banners.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/chart.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/columnMenu.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/columns.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/commands.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/connect.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/connection.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/detail.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/dom.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/dropAndPaste.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/early.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/editing.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/emptiness.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/facts.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/filters.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/form.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/format.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/help.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/icons.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/keyboard.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/languages.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/later.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/layers.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/limits.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/list.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/log.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/login.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/main.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/menu.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/messages.de.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/messages.es.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/messages.fr.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/messages.ja.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/messages.pt.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/messages.zh.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/notifications.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/pauseAllButton.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/place.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/pointing.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/popup.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/preferences.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/preview.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/qr.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/queue.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/rest.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/row.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/rules.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/schedule.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/segments.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/serviceSettings.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/toasts.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/toolbar.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/totals.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/torrent.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/translating.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/view.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.de.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.en.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.es.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.fr.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.ja.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.pt.js" suffix(, 0,)
#embed "../../Service/Server/Page/Assets/words.zh.js" suffix(, 0,)
};

static const unsigned char icon192[] = {
#embed "../../Service/Server/Page/Assets/icon-192.png"
};
static const unsigned char icon512[] = {
#embed "../../Service/Server/Page/Assets/icon-512.png"
};
static const unsigned char maskable[] = {
#embed "../../Service/Server/Page/Assets/icon-maskable-512.png"
};

static const struct pawl_page_picture pictures[] = {
    {"icon-192.png", icon192, sizeof icon192},
    {"icon-512.png", icon512, sizeof icon512},
    {"icon-maskable-512.png", maskable, sizeof maskable},
};

const unsigned char *pawl_page_content(void) { return content; }
size_t pawl_page_length(void) { return sizeof content; }
const struct pawl_page_picture *pawl_page_pictures(void) { return pictures; }
size_t pawl_page_picture_count(void) { return sizeof pictures / sizeof *pictures; }
